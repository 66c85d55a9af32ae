#pragma once
// Statistics of what happens inside a sequence, per step, for study.

#include <string>
#include <vector>

#include "core/tensor.h"

namespace lamina {

/// One entry per step, means over the cases that are not padded; NaN where all are, and for steps of a session that
/// did not run. The summed inputs are W_x x_t + b + W_h h_{t-1}, before any normalization.
struct SequenceRecord {
  std::vector<double> hidden_norm;             ///< norm2(h_t)
  std::vector<double> hidden_gradient_norm;    ///< norm2(dL/dh_t); filled by backward(), NaN before
  std::vector<double> summed_input_mean;       ///< mean over the units of all gates
  std::vector<double> summed_input_deviation;  ///< their standard deviation over the units
};

/// A TapeListener that also derives from this gets a record of every sequence that runs while it listens.
class SequenceObserver {
 public:
  virtual ~SequenceObserver() = default;
  /// The record that the layer of this name fills; must outlive backward().
  virtual SequenceRecord* record_of(const std::string& layer) = 0;
};

/// Makes room for `steps` steps of a layer in `given`, or where that is nullptr in the listener's record.
/// nullptr when there is neither.
SequenceRecord* record_for(SequenceRecord* given, const std::string& layer, size_t steps);

/// The numbers of single cases, of which a SequenceRecord holds the means. Threads may fill different rows at
/// the same time. When made from nullptr it is not wanted() and must not be filled.
class CaseRecord {
 public:
  /// For steps [begin, begin + steps) of the record.
  CaseRecord(SequenceRecord* record, size_t begin, size_t steps, size_t rows);

  bool wanted() const { return record_ != nullptr; }

  /// The row of summed inputs x_k + h_k; the hidden part counts from column `size - hidden_size` on.
  void summed_inputs(size_t t, size_t row, const real* x, size_t size, const real* h, size_t hidden_size);
  void hidden(size_t t, size_t row, const real* h, size_t size);
  void hidden_gradient(size_t t, size_t row, const real* dh, size_t size);

  /// Writes the means of step t, over the cases whose mask [rows] is not 0; all where it is nullptr.
  void finish_forward(size_t t, const real* mask = nullptr) const;
  void finish_backward(size_t t, const real* mask = nullptr) const;

 private:
  enum Number : size_t { input_mean, input_deviation, state, gradient, numbers };
  real& at(size_t t, size_t row, Number which) { return values_[(t * rows_ + row) * numbers + which]; }
  double mean_of(Number which, size_t t, const real* mask) const;

  SequenceRecord* record_ = nullptr;
  size_t begin_ = 0, rows_ = 0;
  Tensor values_;  ///< [steps x rows x numbers]
};

}  // namespace lamina
