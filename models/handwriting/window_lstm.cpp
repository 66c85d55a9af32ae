#include "models/handwriting/window_lstm.h"

#include <algorithm>
#include <utility>

#include "core/listener.h"
#include "core/ops.h"
#include "core/ops/map.h"
#include "core/tape.h"
#include "layers/recurrent/fused/recurrence.h"

namespace lamina::handwriting {

namespace {

/// The window between the steps of the LSTM: what it keeps for the backward pass, and both passes.
class SlidingWindow final : public Feedback {
 public:
  /// w [B x C] and kappa [B x K] are those before the first step; empty tensors mean zeros.
  SlidingWindow(const WindowLayer& layer, const TextBatch& texts, const Tensor& first_w,
                const Tensor& first_kappa, size_t steps)
      : weight_(layer.lstm.input_weight.slice(3, layer.lstm.input_weight.rows())),
        readout_weight_(layer.readout.weight),
        readout_bias_(layer.readout.bias),
        texts_(texts),
        steps_(steps),
        rows_(texts.rows()),
        size_(readout_weight_.rows()),
        symbols_(weight_.rows()),
        gaussians_(readout_weight_.columns() / 3),
        first_w_(first_w.defined() ? first_w : Tensor::zeros({rows_, symbols_})),
        first_kappa_(first_kappa.defined() ? first_kappa : Tensor::zeros({rows_, gaussians_})),
        w_({steps, rows_, symbols_}),
        kappa_({steps, rows_, gaussians_}),
        parameters_({steps, rows_, 3 * gaussians_}) {
    packed_.pack(Transpose::no, symbols_, wide(), std::as_const(weight_).data(), wide());
    packed_readout_.pack(Transpose::no, size_, 3 * gaussians_, std::as_const(readout_weight_).data(),
                         3 * gaussians_);
  }

  /// W_w w_{t-1}
  void enter(size_t t, const Share& share, real* x) override {
    const size_t first = share.rows_of_product.begin, count = share.rows_of_product.size();
    share.for_columns(wide(), [&](size_t begin, size_t end) {
      gemm_packed(count, before(first_w_, w_, t, first), symbols_, packed_, x + first * wide(), wide(), true,
                  begin, end);
    });
  }

  /// dw_{t-1} = d W_w^T; it has few columns, so threads divide its rows
  void enter_backward(size_t, const Range& rows, const real* dx) override {
    gemm_packed(rows.size(), dx + rows.begin * wide(), wide(), packed_, at(dw_, 0, rows.begin), symbols_,
                false);
  }

  /// Moves the window and reads the text through it.
  void look(size_t t, const Range& rows, const real* h) override {
    const size_t width = 3 * gaussians_;
    const real* const bias = std::as_const(readout_bias_).data();
    gemm_packed(rows.size(), h + rows.begin * size_, size_, packed_readout_, at(parameters_, t, rows.begin),
                width, false);
    for (size_t r = rows.begin; r < rows.end; ++r) {
      real* const parameters = at(parameters_, t, r);
      for (size_t i = 0; i < width; ++i) parameters[i] += bias[i];
      case_of(r).forward(parameters, before(first_kappa_, kappa_, t, r), at(kappa_, t, r), at(w_, t, r));
    }
  }

  /// From w_t and kappa_t to h_t.
  void look_backward(size_t t, const Range& rows, real* dh) override {
    const real* const outside = w_.gradient_data();
    for (size_t r = rows.begin; r < rows.end; ++r) {
      real* const dw = at(dw_, 0, r);
      for (size_t i = 0; outside != nullptr && i < symbols_; ++i)
        dw[i] += outside[(t * rows_ + r) * symbols_ + i];
      case_of(r).backward(at(parameters_, t, r), at(kappa_, t, r), dw, at(dkappa_, 0, r),
                          at(dparameters_, t, r));
    }
    gemm_packed(rows.size(), at(dparameters_, t, rows.begin), 3 * gaussians_, packed_readout_,
                dh + rows.begin * size_, size_, true);
  }

  /// Before the backward pass, with dL/dkappa_T [B x K], which is overwritten.
  void start_backward(const Tensor& dlast_kappa) {
    packed_.pack(Transpose::yes, wide(), symbols_, std::as_const(weight_).data(), wide());
    packed_readout_.pack(Transpose::yes, 3 * gaussians_, size_, std::as_const(readout_weight_).data(),
                         3 * gaussians_);
    dw_ = Tensor::zeros({rows_, symbols_});
    dkappa_ = dlast_kappa;
    dparameters_ = Tensor(parameters_.shape());
  }

  /// After it, with h_t [T x B x H] and dL/d(x part) [T x B x 4 H]. The gradients of the weights are sums over the steps of
  /// input times gradient of the output, one product each.
  void contribute(const Tensor& hidden, const real* dx) {
    const size_t cases = steps_ * rows_, width = 3 * gaussians_;
    if (weight_.needs_gradient()) {  // dx is null when nothing in front of it learns
      contribute_outer_products(weight_, rows_, std::as_const(first_w_).data(), symbols_, dx);
      if (steps_ > 1)
        contribute_outer_products(weight_, cases - rows_, std::as_const(w_).data(), symbols_,
                                  dx + rows_ * wide());
    }
    contribute_outer_products(readout_weight_, cases, hidden.data(), size_, dparameters_.data());
    contribute_summed_rows(readout_bias_, cases,
                           [=, d = dparameters_.data()](size_t r, size_t c) { return d[r * width + c]; });
    lamina::contribute(first_w_, [d = dw_.data()](size_t i) { return d[i]; });
    lamina::contribute(first_kappa_, [d = dkappa_.data()](size_t i) { return d[i]; });
  }

  Tensor w() const { return w_; }
  Tensor last_kappa() const { return kappa_.step(steps_ - 1); }

 private:
  real* at(Tensor& of, size_t t, size_t r) const {
    return of.data_unwatched() + (t * rows_ + r) * of.columns();
  }
  /// The values that step t starts from: the results of the step before, or those before the first step.
  const real* before(const Tensor& first, Tensor& all, size_t t, size_t r) const {
    return t == 0 ? first.data() + r * first.columns() : at(all, t - 1, r);
  }
  WindowStep case_of(size_t r) const { return {gaussians_, symbols_, texts_.row(r)}; }
  size_t wide() const { return weight_.columns(); }

  Tensor weight_, readout_weight_, readout_bias_;
  TextBatch texts_;
  size_t steps_, rows_, size_, symbols_, gaussians_;
  Tensor first_w_, first_kappa_;
  Tensor w_, kappa_, parameters_;         ///< [T x B x C], [T x B x K], [T x B x 3 K]
  PackedMatrix packed_, packed_readout_;  ///< transposed for the backward pass
  Tensor dw_, dkappa_, dparameters_;      ///< [B x C] and [B x K] of the current step, [T x B x 3 K]
};

void require_state(const WindowLayer& layer, const WindowState& initial, const TextBatch& texts) {
  const size_t hidden = layer.lstm.options().hidden, symbols = layer.lstm.options().input - 3;
  const auto require = [&](const char* name, const Tensor& part, size_t width) {
    const Shape wanted = {texts.rows(), width};
    if (part.defined() && part.shape() != wanted)
      fail("window lstm: the initial ", name, " is ", part.shape(), "; ", wanted, " is needed");
  };
  require("h", initial.h, hidden);
  require("w", initial.w, symbols);
  require("carry", initial.carry, hidden + layer.readout.weight.columns() / 3);
  for (size_t r = 0; r < texts.rows(); ++r)
    for (const int symbol : texts.row(r))
      if (symbol < 0 || static_cast<size_t>(symbol) >= symbols)
        fail("window lstm: text ", r, " has the symbol ", symbol, "; there are ", symbols);
}

}  // namespace

WindowSequence window_lstm(const WindowLayer& layer, const Tensor& x, const TextBatch& texts,
                           const WindowState& initial) {
  const Shape shape = x.shape();
  if (shape.rank() != 3 || shape[0] == 0 || shape[2] != 3)
    fail("window lstm: the points are ", shape, "; [T x B x 3] with T > 0 is needed");
  if (texts.rows() != shape[1])
    fail("window lstm: ", texts.rows(), " texts for ", shape[1], " cases; each needs its own");
  const Lstm& lstm = layer.lstm;
  const Scope scope(lstm.name());
  require_state(layer, initial, texts);
  const size_t steps = shape[0], size = lstm.options().hidden;
  const auto c_of = [=](const Tensor& carry) { return slice(carry, 1, 0, size); };
  const auto kappa_of = [=](const Tensor& carry) { return slice(carry, 1, size, carry.columns()); };
  const bool begins = !initial.carry.defined();
  const RecurrentState start{.h = initial.h, .c = begins ? Tensor() : c_of(initial.carry)};
  // Before the product: a listener then knows that this is a sequence, whose product is no summed input by itself.
  const RowStepOptions step = lstm.step_options(Mode::train, record_for(nullptr, lstm.name(), steps));
  const Tensor kappa = begins ? Tensor() : kappa_of(initial.carry), hidden({steps, shape[1], size}),
               x_part = linear(x, lstm.input_weight.slice(0, 3), lstm.bias);
  RecurrencePass pass({.step = step}, x_part, lstm.hidden_weight, start, {}, hidden);
  SlidingWindow window(layer, texts, initial.w, kappa, steps);
  const Tensor c = pass.forward(&window).c, w = window.w();
  Tensor carry;
  {
    const Tape::Pause pause;
    carry = concatenate({c, window.last_kappa()}, 1);
  }
  record("window_lstm", {hidden, w, carry},
         {x_part, lstm.input_weight, lstm.hidden_weight, layer.readout.weight, layer.readout.bias, initial.h,
          initial.w, start.c, kappa, step.input_norm.gain, step.input_norm.bias, step.hidden_norm.gain,
          step.hidden_norm.bias, step.memory_norm.gain, step.memory_norm.bias},
         [=, pass = std::move(pass), window = std::move(window)]() mutable {
           const Tape::Pause pause;
           const Tensor dcarry = carry.gradient();
           window.start_backward(kappa_of(dcarry));
           pass.backward(c_of(dcarry).data(), &window);
           window.contribute(hidden, x_part.gradient_data());
         });
  return {.hidden = hidden,
          .window = w,
          .last = {.h = hidden.step(steps - 1), .w = w.step(steps - 1), .carry = carry}};
}

}  // namespace lamina::handwriting
