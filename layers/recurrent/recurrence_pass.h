#pragma once
// One pass of a cell through time: what forward (recurrence.cpp) leaves for backward
// (recurrence_backward.cpp).

#include "core/gemm.h"
#include "layers/recurrent/recurrence.h"
#include "layers/recurrent/row_sums.h"
#include "layers/recurrent/schedule.h"

namespace lamina::detail {

/// Lets numbers come into L1 while the caller works on something else.
inline void prefetch(std::span<const real> numbers) {
  constexpr size_t line = 64 / sizeof(real);
  const real* const end = numbers.data() + numbers.size();
  for (const real* at = numbers.data(); at < end; at += line) __builtin_prefetch(at);
}

/// One pass through a sequence: sizes, what is kept for the backward pass, and both passes.
///
/// The gates' columns are split in two: the first `direct` receive the hidden part on top of the x part, for
/// the last `kept` it stays apart, because a normalization or the cell asks for it.
///
/// What passes through memory decides the speed. Where each row is normalized by itself, gates are not kept:
/// the backward pass computes them again from the summed inputs, which it needs anyway. And gradients of summed
/// inputs take the place of the summed inputs, unless batch norm has to see all rows of a step before, or the tape
/// is retained for another backward pass.
class Pass {
 public:
  Pass(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
       const RecurrentState& initial, const Tensor& mask, const Tensor& hidden, bool recording);

  RecurrentState forward();
  void backward(const Tensor& last_c);

 private:
  // Where the numbers of step t are. Without a tape only one step of `kept_` and two of `memory_` exist.
  const real* mask_at(size_t t) const { return mask_.defined() ? mask_.data() + t * rows_ : nullptr; }
  /// The cases that batch norm's statistics are taken over.
  const real* counted_at(size_t t) const { return options_.count_padded ? nullptr : mask_at(t); }
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
  // Where a row of Back::sums keeps those of each normalization: input, hidden, memory.
  size_t hidden_sums() const { return 2 * gates_width_; }
  size_t memory_sums() const { return 4 * gates_width_; }
  bool by_rows() const { return input_norm_.by_rows() && hidden_norm_.by_rows() && memory_norm_.by_rows(); }
  bool joint() const { return hidden_norm_.active() && kept_ == 0; }
  bool computes_gates_again() const { return input_norm_.active() && by_rows(); }

  /// One thread's room for one row.
  struct RowScratch {
    real* gates;  ///< [gates H]
    real* kept;   ///< [gates H]
    real* state;  ///< [H]
  };
  size_t scratch_size() const { return 2 * gates_width_ + size_; }
  RowScratch scratch_of(Tensor& all, const Share& share) const {
    real* const own = all.data() + share.thread * scratch_size();
    return {own, own + gates_width_, own + 2 * gates_width_};
  }

  /// Both column ranges of W_h (or of its transpose) in the layout of the product kernel.
  struct PackedWeight {
    PackedMatrix direct, kept;
  };
  PackedWeight pack(Transpose op) const;

  void product_forward(size_t step, const Share& share, const PackedWeight& weight);
  void rows_forward(size_t step, const Share& share, const RowScratch& scratch);
  real* gates_row(size_t t, size_t r, const RowScratch& scratch);
  void fetch_row(size_t t, size_t r) const;
  void measure_row(size_t t, size_t r);
  void update_row(size_t step, size_t r, const RowScratch& scratch, real* next);
  void add_condition(size_t r, real* gates) const;
  void emit_row(size_t t, size_t r, const RowScratch& scratch);
  void record_states();

  struct Back;
  struct BackRow;
  BackRow back_row(size_t step, size_t r, const Share& share, const RowSums& sums, Back& back);
  void open_row(size_t t, size_t r, const BackRow& row, Back& back);
  void close_row(size_t step, size_t r, const BackRow& row, Back& back) const;
  void rows_backward(size_t step, const Share& share, RowSums& sums, Back& back);
  void product_backward(size_t step, const Share& share, Back& back) const;
  template <class Visit>
  void read_by_backward(size_t step, const Range& rows, Visit&& visit) const;
  void contribute_weight(const Back& back) const;

  RecurrenceOptions options_;
  const Cell* cell_;
  bool recording_;
  size_t steps_, rows_, size_, gates_width_, direct_, kept_;
  Tensor x_part_;  ///< before its normalization
  Tensor gates_;   ///< after it, then as the cell leaves them, if they are kept; without norm x_part_ itself
  Tensor weight_, mask_, hidden_;
  RecurrentState initial_;
  StepNorm input_norm_, hidden_norm_, memory_norm_;
  Tensor kept_part_;  ///< [T x B x kept], before normalization
  Tensor memory_;     ///< c_t [T x B x H]
  CaseRecord record_;
  Tensor zeros_;  ///< [B x H], where no initial state was given
};

}  // namespace lamina::detail
