#include "core/ops/dropout.h"

#include "core/ops/map.h"

namespace lamina {

/// y = m x / (1 - rate) with m = 0 or 1;  dx = m dy / (1 - rate)
Tensor dropout(const Tensor& x, real rate, Random& random) {
  require_values("dropout", x);
  if (!(rate >= 0 && rate < 1)) fail("dropout: the rate is ", rate, "; it must be at least 0 and below 1");
  if (rate == 0) return x;
  Tensor mask(x.shape());
  random.fill_uniform(mask.data(), mask.size(), 0, 1);
  const real scale = 1 / (1 - rate);
  for_each_index(mask.size(), [=, m = mask.data()](size_t i) { m[i] = m[i] < rate ? 0 : scale; });
  const Tensor y = generate(x.shape(), [in = x.data(), m = mask.data()](size_t i) { return in[i] * m[i]; });
  return record("dropout", y, {x}, [=] {
    contribute(x, [m = mask.data(), dy = y.gradient_data()](size_t i) { return dy[i] * m[i]; });
  });
}

}  // namespace lamina
