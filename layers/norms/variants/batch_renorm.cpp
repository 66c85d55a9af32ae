#include "layers/norms/variants/batch_renorm.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "layers/norms/batch_norm.h"

namespace lamina {

namespace {

void require_limits(const RenormLimits& limits) {
  if (!(limits.r_max >= 1) || !(limits.d_max >= 0))
    fail("batch_renorm: r_max is ", limits.r_max, ", d_max ", limits.d_max, "; at least 1 and 0 are needed");
}

void require_running(const BatchStatistics& running, const Tensor& gain) {
  if (running.mean.shape() != gain.shape() || running.variance.shape() != gain.shape())
    fail("batch_renorm: running mean ", running.mean.shape(), ", running variance ", running.variance.shape(),
         ", gain ", gain.shape(), "; all must be equal");
}

}  // namespace

Tensor composed::batch_renorm(const Tensor& a, const Tensor& gain, const Tensor& bias,
                              const BatchStatistics& running, const RenormLimits& limits,
                              const BatchPassOptions& options) {
  require_limits(limits);
  require_running(running, gain);
  const auto deviation = [&](const Tensor& variance) { return sqrt(variance + options.epsilon); };
  const Tensor x = a.detach(), mean = mean_rows(x);
  const real cases = static_cast<real>(a.rows()) - batch_pass::lost(options.variance);
  const Tensor variance = sum_rows(square(x - mean)) / cases, target = deviation(running.variance);
  const Tensor r = clamp(deviation(variance) / target, 1 / limits.r_max, limits.r_max);
  const Tensor d = clamp((mean - running.mean) / target, -limits.d_max, limits.d_max);
  const Tensor n = composed::batch_norm(a, Tensor::ones(gain.shape()), Tensor::zeros(gain.shape()),
                                        {.epsilon = options.epsilon, .variance = options.variance});
  return composed::relu_pool((n * r + d) * gain + bias, options.then);
}

/// Batch norm whose gain is gain r and whose bias is bias + gain d.
Tensor batch_renorm(const Tensor& a, const Tensor& gain, const Tensor& bias, const BatchStatistics& running,
                    const RenormLimits& limits, const BatchPassOptions& options,
                    BatchStatistics* statistics) {
  require_limits(limits);
  batch_pass::Options pass = {.op = "batch_renorm", .batch = options, .maps = a.shape().rank() == 4};
  BatchStatistics batch = batch_pass::measure(pass, a, gain, bias);
  require_running(running, gain);
  Tensor r(gain.shape()), d(gain.shape());
  for (size_t c = 0; c < gain.size(); ++c) {
    const real target = std::sqrt(running.variance[c] + options.epsilon);
    r[c] =
        std::clamp(std::sqrt(batch.variance[c] + options.epsilon) / target, 1 / limits.r_max, limits.r_max);
    d[c] = std::clamp((batch.mean[c] - running.mean[c]) / target, -limits.d_max, limits.d_max);
  }
  if (statistics != nullptr) *statistics = batch;
  pass.measured = true;
  return batch_pass::normalize(pass, a, gain * r, bias + gain * d, batch);
}

}  // namespace lamina
