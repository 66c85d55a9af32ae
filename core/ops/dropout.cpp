#include "core/ops/dropout.h"

#include "core/distributed/batch_part.h"
#include "core/math/random_part.h"
#include "core/ops/map.h"

namespace lamina {

namespace {

/// Uniform numbers in the place of x, whose cases are a part of a batch: of those of the whole batch.
void fill_part(const Tensor& x, const BatchPart& part, Random& random, real* values) {
  const Shape& shape = x.shape();
  const int axis = part.axis == CaseAxis::first ? 0 : shape.rank() - 2;
  if (axis < 0 || axis >= shape.rank() || shape[axis] != part.size())
    fail("dropout: ", shape, " has not the ", part.size(),
         " cases of this rank's part of the batch along axis ", axis,
         "; tell part_of_batch() where they are");
  size_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const size_t own = part.size() * inner;
  parallel_for(outer, grain_of(own), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      fill_uniform_part(random, (i * part.whole + part.begin) * inner, values + i * own, own, 0, 1);
  });
  skip_uniform(random, outer * part.whole * inner);
}

}  // namespace

/// Where ranks share a batch, each draws its part of the mask of the whole batch.
/// y = m x / (1 - rate) with m = 0 or 1;  dx = m dy / (1 - rate)
Tensor dropout(const Tensor& x, real rate, Random& random) {
  require_values("dropout", x);
  if (!(rate >= 0 && rate < 1)) fail("dropout: the rate is ", rate, "; it must be at least 0 and below 1");
  if (rate == 0) return x;
  Tensor mask(x.shape());
  if (const BatchPart part = current_batch_part(); part.whole > 0)
    fill_part(x, part, random, mask.data());
  else
    random.fill_uniform(mask.data(), mask.size(), 0, 1);
  const real scale = 1 / (1 - rate);
  for_each_index(mask.size(), [=, m = mask.data()](size_t i) { m[i] = m[i] < rate ? 0 : scale; });
  const Tensor y = generate(x.shape(), [in = x.data(), m = mask.data()](size_t i) { return in[i] * m[i]; });
  return record("dropout", y, {x}, [=] {
    contribute(x, [m = mask.data(), dy = y.gradient_data()](size_t i) { return dy[i] * m[i]; });
  });
}

}  // namespace lamina
