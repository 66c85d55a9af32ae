#include "layers/norms/variants/ghost_batch_norm.h"

#include <algorithm>

#include "core/ops.h"
#include "core/threads/parallel.h"
#include "layers/norms/batch_norm.h"

namespace lamina {

namespace {

/// How many parts, which differ by one case at most.
size_t parts_of(const Tensor& a, size_t part) {
  if (part == 0) fail("ghost_batch_norm: parts of 0 cases; take at least 2");
  if (a.shape().rank() == 0) fail("ghost_batch_norm: [scalar] has no features in its last axis");
  return std::max<size_t>(a.shape()[0] / part, 1);
}

Range cases_of(size_t cases, size_t number, size_t parts) {
  return {cases * number / parts, cases * (number + 1) / parts};
}

}  // namespace

Tensor composed::ghost_batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, size_t part,
                                  const BatchPassOptions& options) {
  const size_t count = parts_of(a, part);
  std::vector<Tensor> parts;
  for (size_t p = 0; p < count; ++p) {
    const Range cases = cases_of(a.shape()[0], p, count);
    parts.push_back(composed::batch_norm(a.slice(cases.begin, cases.end), gain, bias,
                                         {.epsilon = options.epsilon, .variance = options.variance}));
  }
  return composed::relu_pool(concatenate(parts, 0), options.then);
}

/// One op a part, each of which writes its own rows of the result.
Tensor ghost_batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, size_t part,
                        const BatchPassOptions& options, BatchStatistics* statistics) {
  const size_t count = parts_of(a, part), cases = a.shape()[0];
  const bool maps = a.shape().rank() == 4;
  batch_pass::Options pass = {.op = "ghost_batch_norm", .batch = options, .maps = maps};
  if (!maps) pass.batch.then = {};  // once, of all rows
  batch_pass::require(pass, a, gain, bias);
  const size_t window = pass.batch.then.window;
  const Tensor y(maps ? Shape{cases, a.shape()[1] / window, a.shape()[2] / window, a.columns()} : a.shape());
  const BatchStatistics all = {Tensor({count, a.columns()}), Tensor({count, a.columns()})};
  if (statistics != nullptr) *statistics = all;
  for (size_t p = 0; p < count; ++p) {
    const auto [begin, end] = cases_of(cases, p, count);
    pass.into = y.slice(begin, end);
    BatchStatistics of_part = {all.mean.step(p), all.variance.step(p)};
    batch_pass::normalize(pass, a.slice(begin, end), gain, bias, of_part);
  }
  return maps ? y : relu_pool(y, options.then);
}

}  // namespace lamina
