#pragma once
// One pass through all steps of the first layer: what forward (window_lstm.cpp) leaves for backward
// (window_lstm_backward.cpp).

#include <utility>

#include "core/gemm.h"
#include "layers/recurrent/schedule.h"
#include "layers/recurrent/sequence_record.h"
#include "layers/recurrent/step_norm.h"
#include "models/handwriting/window_lstm.h"

namespace lamina::handwriting::detail {

class Pass {
 public:
  Pass(const WindowLayer& layer, const Tensor& x_part, const TextBatch& texts, const WindowState& initial);

  WindowSequence forward();
  void backward(const WindowSequence& result);

 private:
  bool normalized() const { return hidden_norm_.active(); }
  size_t wide() const { return 4 * size_; }
  real* at(Tensor& of, size_t t, size_t r) const {
    return of.data_unwatched() + (t * rows_ + r) * of.columns();
  }
  /// What step t starts from: its place in the results of the step before, or in the initial state.
  const real* h_before(size_t t, size_t r) {
    return t == 0 ? std::as_const(initial_.h).data() + r * size_ : at(hidden_, t - 1, r);
  }
  const real* w_before(size_t t, size_t r) {
    return t == 0 ? std::as_const(initial_.w).data() + r * symbols_ : at(window_, t - 1, r);
  }
  const real* c_before(size_t t, size_t r) {
    return t == 0 ? std::as_const(initial_.carry).data() + r * (size_ + gaussians_) : at(memory_, t - 1, r);
  }
  const real* kappa_before(size_t t, size_t r) {
    return t == 0 ? std::as_const(initial_.carry).data() + r * (size_ + gaussians_) + size_
                  : at(kappa_, t - 1, r);
  }
  WindowStep window_step(size_t r) const { return {gaussians_, symbols_, texts_.row(r)}; }
  Schedule schedule() const { return {rows_, size_, wide(), steps_, true}; }
  size_t sums_size() const { return 2 * (2 * wide() + size_); }

  /// What a thread works with: gates and hidden part, normalized, and c.
  struct Scratch {
    real *gates, *hidden_part, *c;
  };
  size_t scratch_size() const { return 2 * wide() + 2 * size_; }
  Scratch scratch_of(Tensor& all, size_t thread) const {
    real* const own = all.data() + thread * scratch_size();
    return {own, own + wide(), own + 2 * wide()};
  }

  void multiply(size_t t, const Share& share);
  real* update_gates(size_t t, size_t r, const Scratch& scratch, real* c);
  void update_row(size_t t, size_t r, const Scratch& scratch);
  void look(size_t t, const Range& rows);

  struct Back;
  void look_backward(size_t t, const Range& rows, Back& back);
  void update_row_backward(size_t t, size_t r, Back& back, size_t thread);
  void multiply_backward(size_t t, const Share& share, Back& back);
  void contribute(const WindowSequence& result, Back& back);

  /// With the window's part. Under layer norm as it was before; its gates are computed again in the backward pass,
  /// which is cheaper than to keep them. Without a norm the gates, as the cell leaves them.
  Tensor x_part_;
  Tensor hidden_part_;  ///< under layer norm W_h h_{t-1}, before normalization
  Tensor hidden_weight_, window_weight_, readout_weight_, readout_bias_;
  TextBatch texts_;
  WindowState initial_;
  size_t steps_, rows_, size_, symbols_, gaussians_;
  real clip_;
  StepNorm input_norm_, hidden_norm_, memory_norm_;
  Tensor hidden_, memory_;     ///< h_t and c_t [T x B x H]
  Tensor window_;              ///< w_t [T x B x C]
  Tensor parameters_, kappa_;  ///< [T x B x 3 K], [T x B x K]
  CaseRecord record_;
  PackedMatrix packed_hidden_, packed_window_, packed_readout_;  ///< transposed for the backward pass
};

}  // namespace lamina::handwriting::detail
