#pragma once
// Batch normalization (Ioffe and Szegedy 2015; Eq. 2 of the paper).
//
//   y = gain (a - mu) / sqrt(sigma^2 + epsilon) + bias,  mu and sigma^2 over the cases of the batch, per unit
//
// Running averages of mu and sigma^2 replace them when the model is used. Where a variance is beyond the range of real, for
// deviations above 1e19 in float, the result is the bias.

#include <string>

#include "core/ops/images/pool2d.h"
#include "core/parameters.h"
#include "core/tensor.h"
#include "layers/mode.h"
#include "layers/statistics/batch_pass.h"

namespace lamina {

/// Fused. a [... x C], gain [C], bias [C]; all axes but the last count as cases. `statistics`, if given,
/// receives those of this batch, which the caller may change. Throws Error for other shapes, no cases, or a single one
/// when unbiased.
Tensor batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias,
                  const BatchPassOptions& options = {}, BatchStatistics* statistics = nullptr);

/// The same for feature maps a [N x H x W x C], which have many positions and few channels: mu and sigma of
/// each channel, over all positions of all cases. Throws Error as batch_norm does.
Tensor batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                       const BatchPassOptions& options = {}, BatchStatistics* statistics = nullptr);

/// The same functions, written from primitive ops.
namespace composed {
Tensor batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias,
                  const BatchPassOptions& options = {});
Tensor batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                       const BatchPassOptions& options = {});
}  // namespace composed

struct BatchNormOptions {
  size_t features = 0;
  real epsilon = real(1e-5);
  real momentum = real(0.1);  ///< running = (1 - momentum) running + momentum batch
  Variance variance = Variance::biased;
  real gain = 1;  ///< initial value of every gain
  /// Ghost batch norm (variants/ghost_batch_norm.h): cases of a part of the batch that has statistics of its own; 0:
  /// the batch is not divided. The running averages move for each part.
  size_t part = 0;
  /// Batch renormalization (variants/batch_renorm.h) with these limits; 1 and 0: none. `options` of the layer may
  /// change while it trains: Ioffe has none for 5,000 steps, d_max 5 from step 25,000 and r_max 3 from 40,000 on. Where
  /// ranks train together the running averages, with which it trains, are those of all ranks' batches.
  real r_max = 1, d_max = 0;
};

/// Batch norm with learned `name`.gain and `name`.bias, and running averages `name`.running_mean (starts at
/// 0) and `name`.running_variance (starts at 1). Throws Error for options that exclude each other, parts and
/// renormalization, for an epsilon below 0, and for a momentum that is not from 0 to 1.
class BatchNorm {
 public:
  BatchNorm(Parameters& parameters, const std::string& name, const BatchNormOptions& options);
  /// Mode::train normalizes with the batch's statistics and moves the running averages; Mode::evaluate uses
  /// them. For feature maps [N x H x W x features], relu and pooling run in the same pass. Throws Error for
  /// no cases and for a single one (or, in maps, a single position of a single one) where it would be normalized
  /// by its own statistics.
  Tensor operator()(const Tensor& a, Mode mode, const ReluPool& then = {});

  Tensor gain, bias, running_mean, running_variance;
  BatchNormOptions options;

 private:
  bool synchronizes() const;
  bool renormalizes() const { return options.r_max != 1 || options.d_max != 0; }
  Tensor apply(const Tensor& a, Mode mode, const ReluPool& then);
  Tensor by_batch(const Tensor& a, const ReluPool& then, BatchStatistics& statistics) const;

  std::string name_;
};

}  // namespace lamina
