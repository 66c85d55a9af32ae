#include "core/ops/clip_gradient.h"

#include <algorithm>

#include "core/ops/map.h"

namespace lamina {

/// y = x;  dx = max(-bound, min(bound, dy)), a NaN unchanged
Tensor clip_gradient(const Tensor& x, real bound) {
  require_values("clip_gradient", x);
  if (!(bound > 0)) fail("clip_gradient: a bound of ", bound, "; it must be positive");
  Tensor y(x.shape());
  std::copy_n(x.data(), x.size(), y.data());
  return record("clip_gradient", y, {x}, [=] {
    const real* const dy = y.gradient_data();
    contribute(x, [=](size_t i) {
      const real low = dy[i] < -bound ? -bound : dy[i];
      return low > bound ? bound : low;
    });
  });
}

}  // namespace lamina
