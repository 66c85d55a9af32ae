// Padding, time-dependent statistics, and carrying the state from one piece to the next.

#include "layers/recurrent/fused/step_norm.h"
#include "tests/layers/observed.h"
#include "tests/layers/recurrent/recurrent_cases.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr size_t steps = 7, rows = 5, input = 3, hidden = 6;

std::vector<Case> unmasked_kinds(std::initializer_list<Norm> norms) {
  std::vector<Case> cases;
  for (const Kind kind : kinds_but_relu)
    for (const Norm norm : norms)
      for (const bool reverse : {false, true})
        cases.push_back({.kind = kind,
                         .options = {.input = input, .hidden = hidden, .norm = norm, .reverse = reverse},
                         .steps = steps,
                         .rows = rows});
  return cases;
}

/// raw [T x B x width] normalized step by step.
Tensor normalized(const StepNormParameters& parameters, const Tensor& raw, Mode mode) {
  const size_t cases = raw.shape()[1], width = raw.columns();
  StepNorm norm(parameters, raw.shape()[0], cases, mode);
  Tensor y(raw.shape());
  for (size_t t = 0; t < raw.shape()[0]; ++t) {
    const size_t at = t * cases * width;
    if (!norm.by_rows()) norm.measure_columns(t, 0, width, raw.data() + at, nullptr);
    for (size_t r = 0; r < cases; ++r)
      norm.normalize_row(t, r, raw.data() + at + r * width, y.data() + at + r * width);
  }
  return y;
}

size_t length_of(size_t row) { return steps - row; }

Tensor lengths_as_mask() {
  Tensor mask({steps, rows});
  for (size_t t = 0; t < steps; ++t)
    for (size_t r = 0; r < rows; ++r) mask[t * rows + r] = t < length_of(r) ? 1 : 0;
  return mask;
}

/// Case r of x [T x B x n], as [length x 1 x n].
Tensor one_case(const Tensor& x, size_t r, size_t length) {
  return slice(slice(x, 0, 0, length), 1, r, r + 1);
}

/// sum of w h_t over the steps that are not padded, and of the last state.
Tensor loss_on(const Sequence& s, const Tensor& weights) {
  return sum(s.hidden * weights) + sum(square(s.last.h));
}

}  // namespace

TEST_CASE("a padded batch equals the same sequences run one by one") {
  for (const Case& c : unmasked_kinds({Norm::none, Norm::layer, Norm::weight})) {
    CAPTURE(describe(c));
    AnyLayer layer(c);
    const Tensor mask = lengths_as_mask();
    const Tensor padded_weights = sample({steps, rows, hidden}, 2) * mask.reshape({steps, rows, 1});
    const Inputs in = inputs_of(c);
    const auto run = [&](bool together) {
      for (Tensor& leaf : leaves(layer, in)) leaf.clear_gradient();
      Tape tape;
      Tensor loss = Tensor::zeros({});
      if (together) {
        loss = loss_on(layer.fused(in.x, {.mask = mask}), padded_weights);
      } else {
        for (size_t r = 0; r < rows; ++r)
          loss = loss + loss_on(layer.fused(one_case(in.x, r, length_of(r)), {}),
                                one_case(padded_weights, r, length_of(r)));
      }
      std::vector<Tensor> results{loss.copy()};
      tape.backward(loss);
      for (const Tensor& leaf : leaves(layer, in)) results.push_back(leaf.gradient());
      return results;
    };
    const auto together = run(true), apart = run(false);
    for (size_t i = 0; i < together.size(); ++i) {
      CAPTURE(i);
      CHECK(difference(together[i], apart[i]) < same);
    }
  }
}

TEST_CASE("what stands at padded steps changes nothing, not even statistics") {
  for (const Case& c : unmasked_kinds({Norm::none, Norm::layer, Norm::batch, Norm::weight})) {
    CAPTURE(describe(c));
    const Tensor mask = lengths_as_mask();
    std::vector<std::vector<Tensor>> results;
    for (const real junk : {real(0), real(1000)}) {
      AnyLayer layer(c);
      Inputs in = inputs_of(c);
      in.mask = mask;
      for (size_t i = 0; i < steps * rows; ++i)
        if (mask[i] == 0) std::fill_n(in.x.data() + i * input, input, junk);
      results.push_back(loss_and_gradients(layer, in, layer.fused));
      for (const auto& entry : layer.parameters.state()) results.back().push_back(entry.value.copy());
    }
    for (size_t i = 0; i < results[0].size(); ++i) {
      CAPTURE(i);
      CHECK(identical(results[0][i], results[1][i]));
    }
  }
}

TEST_CASE("batch norm keeps statistics of each step, the last one's from T_max on") {
  constexpr size_t known = 3;
  Parameters parameters(1);
  const Lstm lstm(parameters, "lstm",
                  {.input = input, .hidden = hidden, .norm = Norm::batch, .max_steps = known});
  const Tensor x = sample({steps, rows, input}, 1);
  lstm(sample({steps, rows, input}, 2));  // the first batch's statistics are taken unchanged
  const StepNormParameters& norm = lstm.input_norm;
  const Tensor first_mean = norm.population.mean.copy(), first_variance = norm.population.variance.copy();
  lstm(x);
  const Tensor raw = lstm.project(x);
  CHECK(norm.population.mean.shape() == Shape{known, 4 * hidden});
  for (size_t t = 0; t < known; ++t)
    for (size_t c = 0; c < 4 * hidden; ++c) {
      double mean = 0, variance = 0;
      for (size_t r = 0; r < rows; ++r) mean += static_cast<double>(raw.step(t)[r * 4 * hidden + c]) / rows;
      for (size_t r = 0; r < rows; ++r)
        variance += std::pow(static_cast<double>(raw.step(t)[r * 4 * hidden + c]) - mean, 2) / rows;
      CHECK(static_cast<double>(norm.population.mean.step(t)[c]) ==
            doctest::Approx(0.9 * static_cast<double>(first_mean.step(t)[c]) + 0.1 * mean).epsilon(1e-4));
      CHECK(static_cast<double>(norm.population.variance.step(t)[c]) ==
            doctest::Approx(0.9 * static_cast<double>(first_variance.step(t)[c]) + 0.1 * variance)
                .epsilon(1e-4));
    }

  const Tensor y = normalized(norm, raw, Mode::evaluate);
  for (size_t t = 0; t < steps; ++t) {
    const Tensor mean = norm.population.mean.step(std::min(t, known - 1)),
                 variance = norm.population.variance.step(std::min(t, known - 1));
    CHECK(difference(y.step(t), (raw.step(t) - mean) / sqrt(variance + norm.epsilon) * norm.gain +
                                    norm.bias) < 64 * ulp);
  }
}

TEST_CASE("evaluation takes population statistics and leaves them alone") {
  for (const Kind kind : kinds_but_relu) {
    const Case c{.kind = kind,
                 .options = {.input = input, .hidden = hidden, .norm = Norm::batch, .max_steps = 3},
                 .steps = steps,
                 .rows = rows};
    AnyLayer layer(c);
    const Tensor x = inputs_of(c).x;
    layer.fused(x, {});
    std::vector<Tensor> before;
    for (const auto& entry : layer.parameters.state()) before.push_back(entry.value.copy());
    const SequenceOptions evaluate{.mode = Mode::evaluate};
    const Tensor all = layer.fused(x, evaluate).hidden;
    for (size_t i = 0; i < before.size(); ++i) CHECK(identical(before[i], layer.parameters.state()[i].value));
    // A case gives the same result alone as in a batch: nothing depends on the batch any more.
    for (size_t r = 0; r < rows; ++r)
      CHECK(difference(layer.fused(one_case(x, r, steps), evaluate).hidden, one_case(all, r, steps)) <
            1e3 * ulp);
    CHECK(difference(layer.step_by_step(x, evaluate).hidden, all) < 1e3 * ulp);
  }
}

TEST_CASE("truncated back-propagation: detach and carry") {
  for (const Kind kind : kinds_but_relu) {
    const Case c{.kind = kind,
                 .options = {.input = input, .hidden = hidden, .norm = Norm::layer},
                 .steps = 6,
                 .rows = rows};
    AnyLayer layer(c);
    const Inputs in = inputs_of(c);
    const Tensor whole = layer.fused(in.x, {}).hidden;
    // The two halves, once with the state carried and once from copies of its numbers.
    std::vector<std::vector<Tensor>> gradients(2);
    for (const bool carried : {true, false}) {
      for (Tensor& leaf : leaves(layer, in)) leaf.clear_gradient();
      RecurrentState state;
      for (const size_t begin : {0U, 3U}) {
        Tape tape;
        const Sequence s = layer.fused(in.x.slice(begin, begin + 3), {.initial = state});
        CHECK(difference(s.hidden, whole.slice(begin, begin + 3)) < 16 * ulp);
        state = carried ? s.last.detach()
                        : RecurrentState{.h = s.last.h.copy(),
                                         .c = s.last.c.defined() ? s.last.c.copy() : Tensor()};
        tape.backward(sum(s.hidden * in.weights.slice(begin, begin + 3)));
        CHECK_FALSE(state.h.needs_gradient());
      }
      for (const Tensor& leaf : leaves(layer, in)) gradients[carried ? 0 : 1].push_back(leaf.gradient());
    }
    for (size_t i = 0; i < gradients[0].size(); ++i) CHECK(identical(gradients[0][i], gradients[1][i]));
  }
}

TEST_CASE("a step of padding only: batch norm passes the state on, in the composed twin too") {
  for (const Kind kind : kinds_but_relu) {
    const Case c{.kind = kind,
                 .options = {.input = input, .hidden = hidden, .norm = Norm::batch},
                 .masked = true,
                 .steps = steps,
                 .rows = rows};
    CAPTURE(describe(c));
    AnyLayer layer(c);
    Inputs in = inputs_of(c);
    for (size_t t = 2; t < 4; ++t) std::fill_n(in.mask.data() + t * rows, rows, real{0});
    CHECK(std::isfinite(loss_of(in, layer.composed_twin).item()));
    check_same(layer, in, layer.fused, layer.composed_twin);
  }
}

TEST_CASE("a record of a step in which all cases are padded, or that never ran, is NaN and not 0") {
  Parameters parameters(1);
  const Gru gru(parameters, "gru", {.input = 2, .hidden = 3});
  const Tensor x = sample({3, 2, 2}, 1), mask = Tensor::from({3, 2}, {1, 1, 1, 0, 0, 0});
  const auto check_third_of = [](const std::function<Tensor()>& loss) {
    const SequenceRecord record = records_of([&] {
                                    Tape tape;
                                    tape.backward(loss());
                                  }).at("gru");
    for (const auto* numbers : {&record.hidden_norm, &record.hidden_gradient_norm, &record.summed_input_mean,
                                &record.summed_input_deviation}) {
      CHECK(std::isfinite(numbers->at(1)));
      CHECK(std::isnan(numbers->at(2)));
    }
  };
  check_third_of([&] { return sum(square(gru(x, {.mask = mask}).last.h)); });
  check_third_of([&] {
    RecurrentSession session(gru, {.steps = 3, .rows = 2});
    return sum(square(session(x.step(1), session(x.step(0), session.initial())).h));
  });
}

TEST_CASE("recurrent layers: a mask that was written before the backward pass is refused") {
  for (const bool checkpoint : {false, true}) {
    Parameters parameters(1);
    const Lstm lstm(parameters, "lstm", {.input = input, .hidden = hidden, .checkpoint = checkpoint});
    Tensor mask = Tensor::ones({steps, rows});
    Tape tape;
    const Tensor loss = sum(lstm(sample({steps, rows, input}, 1), {.mask = mask}).hidden);
    mask.at(steps - 1, 0) = 0;
    CHECK(contains(error_of([&] { tape.backward(loss); }), "was written after it was recorded"));
  }
}
