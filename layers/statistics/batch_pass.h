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

namespace batch_pass {

struct Options {
  const char* op;
  const char* op_with_relu = nullptr;  ///< on the tape, where relu follows; nullptr: the same
  real epsilon = real(1e-5);
  Variance variance = Variance::biased;
  ReluPool then = {};     ///< after it; in the same pass where a holds maps
  bool measured = false;  ///< `statistics` are those of a already
  Tensor into = {};       ///< where the result goes, a part of a larger tensor; empty: a new tensor

  const char* name() const { return then.relu && op_with_relu != nullptr ? op_with_relu : op; }
};

/// Throw Error naming the op and the shapes where a, gain and bias do not fit each other; and where a has too few cases
/// for their variance.
void require_features(const char* op, const Tensor& a, const Tensor& gain, const Tensor& bias);
void require_rows(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias);
void require_maps(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias);

/// a [... x C]: every row is a case. `statistics`, which are made where there are none, receive those of a.
Tensor normalize_rows(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias,
                      BatchStatistics& statistics);

/// a [N x H x W x C] or [N x C]: every position of an image is a case of its channel.
Tensor normalize_maps(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias,
                      BatchStatistics& statistics);

/// Of maps where a has rank 4, else of rows.
Tensor normalize(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias,
                 BatchStatistics& statistics);

/// The statistics alone, for a later pass where they are `measured`; gain and bias as there.
BatchStatistics measure(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias);

}  // namespace batch_pass

}  // namespace lamina
