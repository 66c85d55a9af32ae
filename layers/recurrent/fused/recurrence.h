#pragma once
// A cell carried through time, with or without normalization, as one node on the tape.
//
// The caller has projected the inputs of all steps with one product; here each step adds W_h h_{t-1} and runs
// the normalized row-step, forward and then backward through time. The gradient of W_h is one product over
// all steps at the end.

#include "core/gemm/gemm.h"
#include "layers/recurrent/fused/row_step.h"

namespace lamina {

struct RecurrenceOptions {
  RowStepOptions step;
  bool reverse = false;  ///< from the last step to the first
};

/// x_part [T x B x gates H] is consumed: its buffer is overwritten, and it must be a whole tensor that nothing else
/// uses; backward() throws Error for one that was used afterwards. weight
/// [H x gates H]. State tensors may be empty, which means zeros. mask [T x B] holds 1, or 0 at padded steps,
/// through which the state is carried unchanged; empty: no padding. Writes h_t into `hidden` [T x B x H] and
/// returns the state after the last step. Shapes must have been checked.
RecurrentState recurrence(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
                          const RecurrentState& initial, const Tensor& mask, const Tensor& hidden);

/// What a model does between the steps of a layer that feeds back: it reads h_t and adds to the summed inputs
/// of step t + 1. Each thread works on its share.
class Feedback {
 public:
  virtual ~Feedback() = default;
  /// Adds to x [B x gates H], the x part of step t, the share's rows and columns of products.
  virtual void enter(size_t t, const Share& share, real* x) = 0;
  /// Reads h_t [B x H].
  virtual void look(size_t t, const Range& rows, const real* h) = 0;
  /// Adds to dL/dh_t [B x H] the gradient through look().
  virtual void look_backward(size_t t, const Range& rows, real* dh) = 0;
  /// The backward pass of enter(), from dL/dx [B x gates H] of step t.
  virtual void enter_backward(size_t t, const Range& rows, const real* dx) = 0;
};

/// The pass behind recurrence(), for nodes that do more: sizes, what is kept for the backward pass, and both passes.
///
/// Gradients of summed inputs overwrite the summed inputs, unless batch norm first needs all rows of a step,
/// or the tape is retained for another backward pass.
class RecurrencePass {
 public:
  /// Keeps nothing without a tape that records.
  RecurrencePass(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
                 const RecurrentState& initial, const Tensor& mask, const Tensor& hidden);

  RecurrentState forward(Feedback* feedback = nullptr);
  /// dL/dc_T [B x H], or nullptr; dL/dh_t is the gradient of `hidden`.
  void backward(const real* dlast_c, Feedback* feedback = nullptr);

 private:
  // The places of step t. Without a tape only one step of `kept_` and two of `memory_` exist.
  const real* mask_at(size_t t) const { return mask_.defined() ? mask_.data() + t * rows_ : nullptr; }
  size_t time(size_t step) const { return options_.reverse ? steps_ - 1 - step : step; }
  Rows<real> rows_of(Tensor& all, size_t slot) const {
    return {all.data_unwatched() + slot * rows_ * all.columns(), all.columns()};
  }
  size_t memory_slot(size_t t) const { return recording_ ? t : t % 2; }
  Rows<const real> outside_at(size_t t) const {
    const real* const d = hidden_.gradient_data();
    return {d == nullptr ? d : d + t * rows_ * hidden_.columns(), hidden_.columns()};
  }
  RowStep::Step at(size_t step);
  ThreadSchedule schedule() const { return {rows_, step_.hidden(), step_.width(), steps_, step_.by_rows()}; }

  /// Both column ranges of W_h (or of its transpose) in the layout of the product kernel.
  struct PackedWeight {
    PackedMatrix direct, kept;
  };
  PackedWeight pack(Transpose op) const;
  void product_forward(size_t step, const Share& share, const PackedWeight& weight);

  struct Back;
  RowStep::Gradients gradients_at(size_t t, Back& back) const;
  void add_outside(RowStep::Gradients& d, const Range& rows) const;
  void product_backward(size_t step, const Share& share, Back& back);
  void contribute_weight(const Back& back);

  RecurrenceOptions options_;
  bool recording_;
  size_t steps_, rows_;
  RowStep step_;
  Tensor x_part_;  ///< before its normalization
  Tensor gates_;   ///< after it, then as the cell leaves them, if they are kept; x_part_ itself without norm
  Tensor weight_, mask_, hidden_;
  RecurrentState initial_;
  Tensor kept_part_;  ///< [T x B x kept], before normalization
  Tensor memory_;     ///< c_t [T x B x H]
  Tensor zeros_;      ///< [B x H], where no initial state was given
};

}  // namespace lamina
