#include "models/handwriting/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/listener.h"
#include "core/ops.h"
#include "core/ops/map.h"
#include "core/tape.h"
#include "layers/recurrent/composed.h"

namespace lamina::handwriting {

namespace {

constexpr real output_clip = 100, summed_input_clip = 10;
// A letter takes some twenty-five points. This is only the start: the window learns how fast to slide.
constexpr real first_slide = real(0.04);

const ModelOptions& checked(const ModelOptions& options) {
  if (options.hidden == 0 || options.gaussians == 0 || options.components == 0)
    fail("handwriting: a size is 0; all must be positive");
  if (options.components > most_components)
    fail("handwriting: ", options.components, " components; there may be ", most_components);
  require_norm("handwriting", options.norm, {Norm::none, Norm::layer});
  return options;
}

RecurrentOptions layer_options(const ModelOptions& options, size_t input) {
  return {.input = input,
          .hidden = options.hidden,
          .norm = options.norm,
          .forget_bias = 1,
          .clip = summed_input_clip};
}

// --- A state as one tensor [B x all], as checkpointing keeps it.

Tensor flat(const State& state) {
  return concatenate({state.lower.h, state.lower.w, state.lower.carry, state.middle.h, state.middle.c,
                      state.upper.h, state.upper.c},
                     1);
}

State from_flat(const Tensor& all, const ModelOptions& options) {
  if (!all.defined()) return {};
  size_t done = 0;
  const auto next = [&](size_t width) {
    done += width;
    return slice(all, 1, done - width, done);
  };
  const size_t size = options.hidden;
  State state;  // in the order of flat()
  state.lower = {.h = next(size), .w = next(symbol_count), .carry = next(size + options.gaussians)};
  state.middle = {.h = next(size), .c = next(size)};
  state.upper = {.h = next(size), .c = next(size)};
  return state;
}

}  // namespace

Model::Model(Parameters& parameters, const ModelOptions& options)
    : lower(parameters, "lower", layer_options(checked(options), 3 + symbol_count)),
      middle(parameters, "middle", layer_options(options, 3 + options.hidden + symbol_count)),
      upper(parameters, "upper", layer_options(options, 3 + options.hidden + symbol_count)),
      window(parameters, "window", {.input = options.hidden, .output = 3 * options.gaussians}),
      mixture(parameters, "mixture", {.input = 3 * options.hidden, .output = 6 * options.components + 1}),
      deviation(parameters.add_state("offset.deviation", Tensor::ones({2}))),
      options_(options) {
  for (const auto& entry : parameters.learned()) learned_.push_back(entry.value);
  std::fill_n(window.bias.data() + 2 * options.gaussians, options.gaussians, std::log(first_slide));
}

Tensor Model::operator()(const Tensor& x, const TextBatch& texts, State& state) const {
  const auto [h1, w, lower_last] = window_lstm({lower, window}, x, texts, state.lower);
  const Sequence second = middle(concatenate({x, h1, w}, 2), {.initial = state.middle});
  const Sequence third = upper(concatenate({x, second.hidden, w}, 2), {.initial = state.upper});
  state = {.lower = lower_last, .middle = second.last, .upper = third.last};
  const Scope scope("mixture");
  return clip_gradient(mixture(concatenate({h1, second.hidden, third.hidden}, 2)), output_clip);
}

/// The steps [begin, end) of a batch.
Tensor Model::piece(const Batch& batch, size_t begin, size_t end, State& state) const {
  const Tensor output = (*this)(batch.points.slice(begin, end), batch.texts, state);
  const Scope scope("loss");
  return sum(mixture_nll(output, batch.points.slice(begin + 1, end + 1), batch.mask.slice(begin, end)));
}

/// The same, keeping only the state for the backward pass, which recomputes the piece.
Tensor Model::piece_again_later(const Batch& batch, size_t begin, size_t end, Tensor& state) const {
  const Tensor before = state;
  Tensor loss, after;
  {
    const Tape::Pause pause;
    State inside = from_flat(before, options_);
    loss = piece(batch, begin, end, inside);
    after = flat(inside);
  }
  std::vector<Tensor> inputs{before, batch.points, batch.mask};
  inputs.insert(inputs.end(), learned_.begin(), learned_.end());
  const auto backward = [=, model = *this] {  // which may be gone by then, or elsewhere
    Tape tape;
    const Tensor again = before.needs_gradient() ? before.detach().require_gradient() : before;
    State inside = from_flat(again, model.options_);
    const Tensor loss_again = model.piece(batch, begin, end, inside), after_again = flat(inside);
    if (after.gradient_data() != nullptr)
      tape.backward({{loss_again, loss.gradient()}, {after_again, after.gradient()}});
    else
      tape.backward(loss_again, loss.gradient());
    if (const real* const d = again.gradient_data()) contribute(before, [=](size_t i) { return d[i]; });
  };
  if (Tape* const recording = Tape::recording(inputs))
    recording->append("checkpoint", std::array{loss, after}, inputs, backward);
  state = after;
  return loss;
}

Tensor Model::loss(const Batch& batch) const {
  const size_t steps = batch.points.shape()[0] - 1;
  const auto root = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(steps))));
  const size_t length = options_.checkpoint ? root : steps;
  State state;
  Tensor kept, total = Tensor::zeros({});
  for (size_t begin = 0; begin < steps; begin += length) {
    const size_t end = std::min(steps, begin + length);
    total = total + (options_.checkpoint && Tape::current() != nullptr
                         ? piece_again_later(batch, begin, end, kept)
                         : piece(batch, begin, end, state));
  }
  return total;
}

namespace composed {

Tensor loss(const Model& model, const Batch& batch) {
  using lamina::composed::affine, lamina::composed::step;
  const size_t steps = batch.mask.shape()[0], rows = batch.mask.shape()[1];
  const Tensor zeros = Tensor::zeros({rows, model.options().hidden});
  RecurrentState first{.h = zeros, .c = zeros}, second = first, third = first;
  Tensor w = Tensor::zeros({rows, symbol_count}), kappa = Tensor::zeros({rows, model.options().gaussians});
  Tensor total = Tensor::zeros({rows});
  for (size_t t = 0; t < steps; ++t) {
    const Tensor x = batch.points.step(t);
    first = step(model.lower, concatenate({x, w}, 1), first);
    const Window seen = window(affine(model.window, first.h), kappa, batch.texts, symbol_count);
    w = seen.w;
    kappa = seen.kappa;
    second = step(model.middle, concatenate({x, first.h, w}, 1), second);
    third = step(model.upper, concatenate({x, second.h, w}, 1), third);
    const Tensor output =
        clip_gradient(affine(model.mixture, concatenate({first.h, second.h, third.h}, 1)), output_clip);
    total = total + mixture_nll(output, batch.points.step(t + 1), batch.mask.step(t));
  }
  return sum(total);
}

}  // namespace composed

}  // namespace lamina::handwriting
