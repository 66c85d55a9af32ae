#pragma once
// One pass of batch normalization over rows or over feature maps, with the checks of what goes into it: batch norm and
// its variants (ghost batch norm, batch renormalization) differ in the cases, the gain and the bias that they give it.

#include "core/ops/images/pool2d.h"
#include "core/tensor.h"

namespace lamina {

/// How sigma^2 is estimated from N cases: the sum of squares divided by N, or by N - 1, which is unbiased and
/// matters for small batches.
enum class Variance { biased, unbiased };

struct BatchStatistics {
  Tensor mean, variance;  ///< [C] each; [parts x C] of a batch that was divided
};

/// Of batch norm and its variants.
struct BatchPassOptions {
  real epsilon = real(1e-5);
  Variance variance = Variance::biased;
  ReluPool then = {};  ///< relu and pooling after it; in the same pass where a holds maps
};

namespace batch_pass {

/// The sum of squares is divided by the number of cases minus this.
inline real lost(Variance estimate) { return estimate == Variance::unbiased ? 1 : 0; }

struct Options {
  const char* op;
  const char* op_with_relu = nullptr;  ///< on the tape, where relu follows; nullptr: the same
  BatchPassOptions batch = {};
  /// Every position of an image is a case of its channel, a [N x H x W x C] or [N x C]; else every row is one, a [... x C].
  bool maps = false;
  bool over_ranks =
      false;  ///< of rows: the cases are those of all ranks (column_norm.h), of which a may have none
  bool measured = false;  ///< `statistics` are those of a already
  Tensor into = {};       ///< where the result goes, a part of a larger tensor; empty: a new tensor
};

/// Throw Error naming the op and the shapes where a, gain and bias do not fit each other; and where a has too few cases
/// for their variance.
void require_features(const char* op, const Tensor& a, const Tensor& gain, const Tensor& bias);
void require(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias);

/// `statistics`, which are made where there are none, receive those of a.
Tensor normalize(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias,
                 BatchStatistics& statistics);

/// The statistics alone, for a later pass where they are `measured`; gain and bias as there.
BatchStatistics measure(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias);

}  // namespace batch_pass

}  // namespace lamina
