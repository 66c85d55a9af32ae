#pragma once
// Normalization of feature maps [N x H x W x C] within each case.
//
//   y = gain (a - mu) / sqrt(sigma^2 + epsilon) + bias
//
//   layer norm      mu and sigma over all of H, W and C                        groups = 1
//   group norm      over H, W and C / groups channels (Wu and He 2018)
//   instance norm   over H and W, for each channel (Ulyanov et al. 2016)       groups = C
//
// A `border` leaves the positions close to the image's edge out of mu and sigma (they are still normalized):
// windows that extend beyond the edge see zeros, so their summed inputs have different statistics
// (Section 6.7).
//
// Where a variance is beyond the range of real, for deviations above 1e19 in float, the result is the bias; layer norm of
// vectors (layer_norm.h) scales such rows first.

#include <string>

#include "core/ops/images/pool2d.h"
#include "core/parameters.h"
#include "core/tensor.h"

namespace lamina {

struct GroupNormOptions {
  size_t groups = 1;
  size_t border = 0;  ///< width of the frame of positions that mu and sigma leave out
  real epsilon = real(1e-5);
  ReluPool then = {};  ///< relu and pooling after it, in the same pass
};

/// Fused. a [N x H x W x C], or [N x C] as maps of one position; gain and bias [C], or [H x W x C]: one per
/// unit. Throws Error for other shapes, groups that do not divide C, or a border that leaves nothing.
Tensor group_norm(const Tensor& a, const Tensor& gain, const Tensor& bias,
                  const GroupNormOptions& options = {});

/// The same function, written from primitive ops.
namespace composed {
Tensor group_norm(const Tensor& a, const Tensor& gain, const Tensor& bias,
                  const GroupNormOptions& options = {});
}

/// Group norm with learned `name`.gain and `name`.bias of shape `shape`: [C] or [H x W x C].
class GroupNorm {
 public:
  GroupNorm(Parameters& parameters, const std::string& name, const Shape& shape,
            const GroupNormOptions& options, real initial_gain = 1);
  /// `then` overrides that of the options where it does something.
  Tensor operator()(const Tensor& a, const ReluPool& then = {}) const;

  Tensor gain, bias;
  GroupNormOptions options;

 private:
  std::string name_;
};

}  // namespace lamina
