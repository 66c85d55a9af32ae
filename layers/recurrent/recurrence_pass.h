#pragma once
// One pass of a cell through time: what forward (recurrence.cpp) leaves for backward
// (recurrence_backward.cpp).

#include <vector>

#include "core/gemm.h"
#include "layers/recurrent/recurrence.h"
#include "layers/recurrent/schedule.h"

namespace lamina::detail {

/// One pass through a sequence: sizes, what is kept for the way back, and both ways.
///
/// The gates' columns are split in two: the first `direct` receive the hidden part on top of the x part, for
/// the last `kept` it stays apart, because a normalization or the cell asks for it.
class Pass {
 public:
  Pass(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
       const RecurrentState& initial, const Tensor& mask, const Tensor& hidden, bool recording);

  RecurrentState forward();
  void backward(const Tensor& last_c);

 private:
  // Where the numbers of step t are. Without a tape only one step of `kept_` and two of `memory_` exist.
  const real* mask_at(size_t t) const { return mask_.defined() ? mask_.data() + t * rows_ : nullptr; }
  size_t gates_at(size_t t, size_t r) const { return (t * rows_ + r) * gates_width_; }
  size_t kept_at(size_t t, size_t r) const { return ((recording_ ? t : 0) * rows_ + r) * kept_; }
  size_t state_at(size_t t, size_t r) const { return (t * rows_ + r) * size_; }
  size_t memory_at(size_t t, size_t r) const { return ((recording_ ? t : t % 2) * rows_ + r) * size_; }
  size_t time(size_t step) const { return options_.reverse ? steps_ - 1 - step : step; }
  const real* previous_h(size_t step) const {
    return step == 0 ? initial_.h.data() : hidden_.data() + state_at(time(step - 1), 0);
  }
  const real* previous_c(size_t step) const {
    return step == 0 ? initial_.c.data() : memory_.data() + memory_at(time(step - 1), 0);
  }
  // Where a thread's row of Back::sums keeps those of each normalization: input, hidden, memory.
  size_t hidden_sums() const { return 2 * gates_width_; }
  size_t memory_sums() const { return 4 * gates_width_; }
  bool by_rows() const { return input_norm_.by_rows() && hidden_norm_.by_rows() && memory_norm_.by_rows(); }
  bool joint() const { return hidden_norm_.active() && kept_ == 0; }

  /// Both column ranges of W_h (or of its transpose) in the layout of the product kernel.
  struct PackedWeight {
    PackedMatrix direct, kept;
  };
  PackedWeight pack(Transpose op) const;

  void product_forward(size_t step, const Share& share, const PackedWeight& weight);
  void rows_forward(size_t step, const Share& share, real* scratch);
  void emit_rows(size_t t, const Share& share, real* scratch);
  void add_condition(size_t r, real* gates) const;
  void record_row(size_t t, size_t r);
  void record_forward() const;

  struct Back;
  void open_row(size_t t, size_t r, const Share& share, Back& back) const;
  void close_row(size_t step, size_t r, const Share& share, Back& back) const;
  void rows_backward(size_t step, const Share& share, Back& back) const;
  void product_backward(size_t step, const Share& share, Back& back) const;
  void contribute_weight(const Back& back) const;

  RecurrenceOptions options_;
  const Cell* cell_;
  bool recording_;
  size_t steps_, rows_, size_, gates_width_, direct_, kept_;
  Tensor x_part_;  ///< before its normalization
  Tensor gates_;   ///< after it, then as the cell leaves them; the buffer of x_part_ where there is no norm
  Tensor weight_, mask_, hidden_;
  RecurrentState initial_;
  StepNorm input_norm_, hidden_norm_, memory_norm_;
  Tensor kept_part_;  ///< [T x B x kept], before normalization
  Tensor memory_;     ///< c_t [T x B x H]
  Tensor summed_;     ///< for the record: [T x B x (mean, deviation)]
  Tensor zeros_;      ///< [B x H], where no initial state was given
};

/// means[t] = the mean of value(t, r) over the cases that are not padded
template <class Value>
void mean_over_cases(size_t steps, size_t rows, const Tensor& mask, const Value& value, double* means) {
  for (size_t t = 0; t < steps; ++t) {
    double total = 0, cases = 0;
    for (size_t r = 0; r < rows; ++r) {
      if (mask.defined() && mask[t * rows + r] == 0) continue;
      total += static_cast<double>(value(t, r));
      cases += 1;
    }
    means[t] = cases > 0 ? total / cases : 0;
  }
}

/// norm2, summed in double: the squares of floats leave their range beyond 1e19 and below 1e-19, which
/// gradients over many steps do reach.
inline real length(const real* vector, size_t size) {
  double total = 0;
  for (size_t i = 0; i < size; ++i) total += static_cast<double>(vector[i]) * static_cast<double>(vector[i]);
  return static_cast<real>(std::sqrt(total));
}

}  // namespace lamina::detail
