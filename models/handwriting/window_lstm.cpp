#include "models/handwriting/window_lstm.h"

#include <algorithm>

#include "core/listener.h"
#include "core/ops.h"
#include "core/tape.h"
#include "layers/recurrent/cell.h"
#include "models/handwriting/window_lstm_pass.h"

namespace lamina::handwriting {

namespace detail {

Pass::Pass(const WindowLayer& layer, const Tensor& x_part, const TextBatch& texts, const WindowState& initial)
    : x_part_(x_part),
      hidden_weight_(layer.lstm.hidden_weight),
      window_weight_(layer.lstm.input_weight.slice(3, layer.lstm.input_weight.rows())),
      readout_weight_(layer.readout.weight),
      readout_bias_(layer.readout.bias),
      texts_(texts),
      initial_(initial),
      steps_(x_part.shape()[0]),
      rows_(x_part.shape()[1]),
      size_(hidden_weight_.rows()),
      symbols_(window_weight_.rows()),
      gaussians_(readout_weight_.columns() / 3),
      clip_(layer.lstm.options().clip),
      input_norm_(layer.lstm.input_norm, steps_, rows_, Mode::train),
      hidden_norm_(layer.lstm.hidden_norm, steps_, rows_, Mode::train),
      memory_norm_(layer.lstm.memory_norm, steps_, rows_, Mode::train),
      hidden_({steps_, rows_, size_}),
      memory_({steps_, rows_, size_}),
      window_({steps_, rows_, symbols_}),
      parameters_({steps_, rows_, 3 * gaussians_}),
      kappa_({steps_, rows_, gaussians_}),
      record_(record_for(nullptr, layer.lstm.name(), steps_), 0, steps_, rows_) {
  if (normalized()) hidden_part_ = Tensor(x_part.shape());
  if (!initial_.h.defined()) initial_.h = Tensor::zeros({rows_, size_});
  if (!initial_.w.defined()) initial_.w = Tensor::zeros({rows_, symbols_});
  if (!initial_.carry.defined()) initial_.carry = Tensor::zeros({rows_, size_ + gaussians_});
}

WindowSequence Pass::forward() {
  packed_hidden_.pack(Transpose::no, size_, wide(), std::as_const(hidden_weight_).data(), wide());
  packed_window_.pack(Transpose::no, symbols_, wide(), std::as_const(window_weight_).data(), wide());
  packed_readout_.pack(Transpose::no, size_, 3 * gaussians_, std::as_const(readout_weight_).data(),
                       3 * gaussians_);
  const Schedule work = schedule();
  Tensor scratch({work.threads(), scratch_size()});
  work.run([&](const Share& share) {
    for (size_t t = 0; t < steps_; ++t) {
      multiply(t, share);
      share.wait();
      for (size_t r = share.rows.begin; r < share.rows.end; ++r) {
        if (normalized()) {
          input_norm_.measure_row(t, r, at(x_part_, t, r));
          hidden_norm_.measure_row(t, r, at(hidden_part_, t, r));
        }
        update_row(t, r, scratch_of(scratch, share.thread));
      }
      look(t, share.rows);
      share.wait();
    }
  });
  for (size_t t = 0; record_.wanted() && t < steps_; ++t) record_.finish_forward(t);
  Tensor carry({rows_, size_ + gaussians_});
  for (size_t r = 0; r < rows_; ++r) {
    real* const to = carry.data() + r * carry.columns();
    std::copy_n(at(memory_, steps_ - 1, r), size_, to);
    std::copy_n(at(kappa_, steps_ - 1, r), gaussians_, to + size_);
  }
  return {.hidden = hidden_,
          .window = window_,
          .last = {.h = hidden_.step(steps_ - 1), .w = window_.step(steps_ - 1), .carry = carry}};
}

/// W_w w_{t-1} onto the x part, W_h h_{t-1} onto it too or, to be normalized by itself, apart.
void Pass::multiply(size_t t, const Share& share) {
  const size_t first = share.rows_of_product.begin, count = share.rows_of_product.size();
  if (count == 0) return;
  real *const x = at(x_part_, t, first), *const hidden = normalized() ? at(hidden_part_, t, first) : x;
  share.for_columns(wide(), [&](size_t begin, size_t end) {
    gemm_packed(count, w_before(t, first), symbols_, packed_window_, x, wide(), true, begin, end);
    gemm_packed(count, h_before(t, first), size_, packed_hidden_, hidden, wide(), !normalized(), begin, end);
  });
}

/// From summed inputs, normalized if the layer is, to the gates, which it returns, and c_t.
real* Pass::update_gates(size_t t, size_t r, const Scratch& scratch, real* c) {
  real* gates = at(x_part_, t, r);
  if (normalized()) {
    input_norm_.normalize_row(t, r, gates, scratch.gates);
    hidden_norm_.normalize_row(t, r, at(hidden_part_, t, r), scratch.hidden_part);
    gates = scratch.gates;
  }
  lstm_cell().forward({.hidden = size_,
                       .gates = gates,
                       .kept = scratch.hidden_part,
                       .all_kept = normalized(),
                       .previous = c_before(t, r),
                       .next = c});
  return gates;
}

/// The next state (Eq. 17-22).
void Pass::update_row(size_t t, size_t r, const Scratch& scratch) {
  real *const c = at(memory_, t, r), *const h = at(hidden_, t, r);
  if (record_.wanted())
    record_.summed_inputs(t, r, at(x_part_, t, r), wide(), normalized() ? at(hidden_part_, t, r) : nullptr,
                          normalized() ? wide() : 0);
  const real *const gates = update_gates(t, r, scratch, c), *used = c;
  if (normalized()) {
    memory_norm_.measure_row(t, r, c);
    memory_norm_.normalize_row(t, r, c, scratch.c);
    used = scratch.c;
  }
  lstm_output(size_, gates, used, h);
  if (record_.wanted()) record_.hidden(t, r, h, size_);
}

/// Moves the window and reads the text through it.
void Pass::look(size_t t, const Range& rows) {
  if (rows.size() == 0) return;
  const size_t width = 3 * gaussians_;
  const real* const bias = std::as_const(readout_bias_).data();
  gemm_packed(rows.size(), at(hidden_, t, rows.begin), size_, packed_readout_, at(parameters_, t, rows.begin),
              width, false);
  for (size_t r = rows.begin; r < rows.end; ++r) {
    real* const parameters = at(parameters_, t, r);
    for (size_t i = 0; i < width; ++i) parameters[i] += bias[i];
    window_step(r).forward(parameters, kappa_before(t, r), at(kappa_, t, r), at(window_, t, r));
  }
}

}  // namespace detail

WindowSequence window_lstm(const WindowLayer& layer, const Tensor& x, const TextBatch& texts,
                           const WindowState& initial) {
  const Shape shape = x.shape();
  if (shape.rank() != 3 || shape[0] == 0 || shape[2] != 3)
    fail("window lstm: the points are ", shape, "; [T x B x 3] with T > 0 is needed");
  if (texts.rows() != shape[1])
    fail("window lstm: ", texts.rows(), " texts for ", shape[1], " cases; each needs its own");
  const Scope scope(layer.lstm.name());
  const Tensor x_part = linear(x, layer.lstm.input_weight.slice(0, 3), layer.lstm.bias);
  detail::Pass pass(layer, x_part, texts, initial);
  WindowSequence result = pass.forward();
  record("window_lstm", {result.hidden, result.window, result.last.carry},
         {x_part, layer.lstm.input_weight, layer.lstm.hidden_weight, layer.readout.weight, layer.readout.bias,
          initial.h, initial.w, initial.carry},
         [pass = std::move(pass), result]() mutable { pass.backward(result); });
  return result;
}

}  // namespace lamina::handwriting
