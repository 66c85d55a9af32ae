#pragma once
// The network's distribution of the next point (Graves 2013, Eq. 15-26): the offset is a mixture of M
// bivariate Gaussians, and whether the pen then leaves the paper a Bernoulli variable.
//
// A row of network outputs [6 M + 1] holds, M numbers each,
//
//   weight logits | mean x | mean y | log sigma x | log sigma y | r   with rho = most_correlation tanh(r)
//
// and the logit of the end of a stroke. A point is (dx, dy, end of stroke).

#include "core/math/random.h"
#include "core/tensor.h"

namespace lamina::handwriting {

/// Keeps 1 - rho^2 above 2e-4, so that no Gaussian degenerates to a line.
inline constexpr real most_correlation = real(0.9999);

/// Fused: -log p(target | output) for each row, in nats, times its mask. output [... x 6M + 1] with M up to
/// most_components, target [... x 3], mask with as many elements as there are rows; neither target nor mask gets a
/// gradient. Returns [rows]. Throws Error for other shapes.
Tensor mixture_nll(const Tensor& output, const Tensor& target, const Tensor& mask);

/// Draws a point from one row of outputs [6 M + 1]. The bias makes writing neater (Eq. 61-62): weight logits
/// are multiplied by 1 + bias, deviations by e^-bias.
struct Point {
  real dx, dy, end;
};
inline constexpr size_t most_components = 64;  ///< the largest M

Point draw_point(const real* output, size_t components, real bias, Random& random);

namespace composed {
/// The same likelihood from primitive ops.
Tensor mixture_nll(const Tensor& output, const Tensor& target, const Tensor& mask);
}  // namespace composed

}  // namespace lamina::handwriting
