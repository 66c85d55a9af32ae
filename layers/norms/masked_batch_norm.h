#pragma once
// Batch normalization of sequences of unequal length: mu and sigma of each unit over all cases and all steps
// that are not padded.
//
// For the layers outside of recurrence (attention, output layers) in a model whose recurrent layers are
// batch-normalized too: "BN-everywhere" in Figure 2 of the paper.

#include <string>

#include "layers/statistics/population.h"

namespace lamina {

struct MaskedBatchNormOptions {
  size_t features = 0;
  real gain = real(0.1);  ///< initial value of every gain (Cooijmans et al. 2016)
  bool bias = true;       ///< off where another bias is added to the result
};

/// Parameters: `name`.gain, `name`.bias if there is one, and the population statistics `name`.mean,
/// `name`.variance and `name`.cases.
class MaskedBatchNorm {
 public:
  MaskedBatchNorm(Parameters& parameters, const std::string& name, const MaskedBatchNormOptions& options);

  /// a [... x features]; mask, of one number per row of a, holds 1, or 0 for rows that are padded; empty:
  /// none. Mode::train normalizes with the statistics of the rows that are not padded and updates the
  /// population's; Mode::evaluate uses the population's; see layers/mode.h for the others. Padded rows become
  /// zeros and get no gradient; when every row is padded, the population is unchanged; when only one row is
  /// not, it becomes the bias. Throws Error for other shapes; backward() does so where the mask was written
  /// since.
  Tensor operator()(const Tensor& a, const Tensor& mask, Mode mode) const;

  Tensor gain;
  Tensor bias;            ///< empty without bias
  Population population;  ///< of a single step
};

namespace composed {
/// What Mode::train computes, from primitive ops; the bias may be empty.
Tensor masked_batch_norm(const Tensor& a, const Tensor& mask, const Tensor& gain, const Tensor& bias,
                         real epsilon = real(1e-5));
}  // namespace composed

}  // namespace lamina
