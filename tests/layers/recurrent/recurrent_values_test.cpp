// Hand-computed values, the contents of SequenceRecord, and errors for bad input.

#include "tests/layers/recurrent/recurrent_cases.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr double exact = sizeof(real) == 8 ? 1e-11 : 1e-6;

void set(Tensor to, std::initializer_list<double> values) {
  REQUIRE(to.size() == values.size());
  std::ranges::transform(values, to.data(), [](double v) { return static_cast<real>(v); });
}

void check(const Tensor& ours, std::initializer_list<double> by_hand) {
  CHECK(difference(ours, by_hand) < exact);
}

}  // namespace

// Gate order f, i, o, g. With x = 1, h_0 = 0.5, c_0 = 2, W_x = (0.5, -0.5, 1, 2), W_h = (1, 0, -1, 0.5) and
// b = (0, 0.5, -0.5, -1):
//
//   a_f = 0.5 + 0.5 + 0 = 1            f = sig(1) = 0.731058578630
//   a_i = -0.5 + 0 + 0.5 = 0           i = 0.5
//   a_o = 1 - 0.5 - 0.5 = 0            o = 0.5
//   a_g = 2 + 0.25 - 1 = 1.25          g = tanh(1.25) = 0.848283639957
//   c = 2 f + 0.5 g = 1.886258977239   h = 0.5 tanh(c) = 0.477522751666
//
// For L = h:  dc = o (1 - tanh(c)^2) = 0.043944041944
//   da_f = dc 2 f (1 - f)   da_i = dc g / 4   da_o = tanh(c) / 4   da_g = dc (1 - g^2) / 2
//   dx = sum W_x da   dh_0 = sum W_h da   dc_0 = dc f
TEST_CASE("by hand: one step of an LSTM with one unit") {
  Parameters parameters(1);
  const Lstm lstm(parameters, "lstm", {.input = 1, .hidden = 1});
  set(lstm.input_weight, {0.5, -0.5, 1, 2});
  set(lstm.hidden_weight, {1, 0, -1, 0.5});
  set(lstm.bias, {0, 0.5, -0.5, -1});
  Tensor x = Tensor::ones({1, 1, 1}).require_gradient();
  Tensor h = Tensor::full({1, 1}, real(0.5)).require_gradient(),
         c = Tensor::full({1, 1}, 2).require_gradient();
  Tape tape;
  const Sequence s = lstm(x, {.initial = {.h = h, .c = c}});
  check(s.last.c, {1.886258977239});
  check(s.hidden, {0.477522751666});
  tape.backward(sum(s.hidden));
  const auto da = {0.017279846609, 0.009319253248, 0.238761375833, 0.006161281508};
  check(lstm.bias.gradient(), da);
  check(lstm.input_weight.gradient(), da);
  check(lstm.hidden_weight.gradient() / real(0.5), da);
  check(x.gradient(), {0.255064235530});
  check(h.gradient(), {-0.218400888470});
  check(c.gradient(), {0.032125669822});
}

// Two units, epsilon 0, gains 1, biases 0 (Eq. 20-22). x = 1 and h_0 = (1, 1), so that the raw parts are W_x
// and the sums of W_h's columns; over all eight summed inputs of a part (units 1, 2 of f; of i; of o; of g):
//
//   x part       3  1   1  3   3  1   1  3    mean 2, deviation 1:    1 -1  -1  1   1 -1  -1  1
//   hidden part  2  2  -2 -2   2 -2   2 -2    mean 0, deviation 2:    1  1  -1 -1   1 -1   1 -1
//   sum                                                               2  0  -2  0   2 -2   0  0
//
//   g = 0, so c = f c_0 = (sig(2) 0.5, 0.5 1.5) = (0.440398538989, 0.75), and two units always normalize to
//   -1 and 1:  h = (sig(2) tanh(-1), sig(-2) tanh(1)) = (-0.670809907171, 0.090784248785)
//
// For L = h_1 + h_2 nothing flows through N(c) into c, so only o has gradients: da_o = (-k, k) with
// k = tanh(1) sig(2) sig(-2) = 0.079962501056. Through N, da -> (da - mean(da) - n mean(da n)) / deviation:
//   x part:       n_o = (1, -1), mean(da n) = -2k / 8, so W_x gets da + n k / 4
//   hidden part:  the same at half the size, as n_o is the same and the deviation 2
// The memory norm's bias gets o (1 - tanh(1)^2), its gain that times n = (-1, 1).
// dx = sum W_x dW_x = 0: layer norm is invariant to the scale of its input.
TEST_CASE("by hand: one step of a layer-normalized LSTM") {
  Parameters parameters(1);
  Lstm lstm(parameters, "lstm", {.input = 1, .hidden = 2, .norm = Norm::layer});
  for (StepNormParameters* norm : {&lstm.input_norm, &lstm.hidden_norm, &lstm.memory_norm}) norm->epsilon = 0;
  set(lstm.input_weight, {3, 1, 1, 3, 3, 1, 1, 3});
  set(lstm.hidden_weight, {1, 2, -2, 0, 0, -1, 2, -3, /**/ 1, 0, 0, -2, 2, -1, 0, 1});
  Tensor x = Tensor::ones({1, 1, 1}).require_gradient();
  Tape tape;
  const Sequence s =
      lstm(x, {.initial = {.h = Tensor::ones({1, 2}), .c = Tensor::from({1, 2}, {real(0.5), real(1.5)})}});
  check(s.last.c, {0.440398538989, 0.75});
  check(s.hidden, {-0.670809907171, 0.090784248785});
  tape.backward(sum(s.hidden));
  const double k = 0.079962501056, q = k / 4;
  check(lstm.input_norm.bias.gradient(), {0, 0, 0, 0, -k, k, 0, 0});
  check(lstm.input_norm.gain.gradient(), {0, 0, 0, 0, -k, -k, 0, 0});
  check(lstm.input_weight.gradient(), {q, -q, -q, q, -k + q, k - q, -q, q});
  const double r = q / 2, w = k / 2;
  const auto by_unit = {r, r, -r, -r, -w + r, w - r, r, -r};
  check(lstm.hidden_weight.gradient().step(0), by_unit);
  check(lstm.hidden_weight.gradient().step(1), by_unit);
  check(lstm.memory_norm.bias.gradient(), {0.369912172919, 0.050062168695});
  check(lstm.memory_norm.gain.gradient(), {-0.369912172919, 0.050062168695});
  check(x.gradient(), {0});
}

// Gate order z, r, n; z and r are normalized together, n separately (Eq. 26-28). x = 1, h_0 = (1, 1):
//
//               z        r        n
//   x part      3  1     1  3     5  1      ->   1 -1  -1  1  |  1 -1
//   hidden      2 -2     2 -2    -3  3      ->   1 -1   1 -1  | -1  1
//   z = sig(2), sig(-2),  r = sig(0) = 0.5,  n = tanh(1 - 0.5) = 0.462117157260, -0.462117157260
//   h = 1 + z (n - 1) = (0.526234363820, 0.825711362516)
//
// For L = h_1 + h_2, with u = (-1, 1) the normalized hidden part of n:
//   dz = (n - 1) z (1 - z)   dn = z (1 - n^2)   dr = dn u / 4   du = dn / 2
TEST_CASE("by hand: one step of a layer-normalized GRU") {
  Parameters parameters(1);
  Gru gru(parameters, "gru", {.input = 1, .hidden = 2, .norm = Norm::layer});
  gru.input_norm.epsilon = gru.hidden_norm.epsilon = 0;
  set(gru.input_weight, {3, 1, 1, 3, 5, 1});
  set(gru.hidden_weight, {1, -2, 2, -3, -2, 2, /**/ 1, 0, 0, 1, -1, 1});
  Tape tape;
  const Sequence s = gru(Tensor::ones({1, 1, 1}), {.initial = {.h = Tensor::ones({1, 2})}});
  check(s.hidden, {0.526234363820, 0.825711362516});
  tape.backward(sum(s.hidden));
  const double z1 = -0.056474248186, z2 = -0.153512922621, r1 = -0.173175216295, r2 = 0.023436716947;
  check(gru.input_norm.bias.gradient(), {z1, z2, r1, r2, 0.692700865179, 0.093746867787});
  check(gru.hidden_norm.bias.gradient(), {z1, z2, r1, r2, 0.346350432589, 0.046873433894});
  check(gru.hidden_norm.gain.gradient(), {z1, -z2, r1, -r2, -0.346350432589, 0.046873433894});
}

TEST_CASE("a record says what direct computation says") {
  constexpr size_t steps = 5, rows = 3, hidden = 6;
  for (const auto& [kind, norm] : {std::pair(Kind::tanh, Norm::none),
                                   {Kind::lstm, Norm::none},
                                   {Kind::gru, Norm::none},
                                   {Kind::tanh, Norm::layer},
                                   {Kind::lstm, Norm::layer},
                                   {Kind::gru, Norm::layer}}) {
    const Case c{
        .kind = kind, .options = {.input = 4, .hidden = hidden, .norm = norm}, .steps = steps, .rows = rows};
    CAPTURE(describe(c));
    AnyLayer layer(c);
    const Tensor x = sample({steps, rows, 4}, 1), weights = sample({steps, rows, hidden}, 2);
    SequenceRecord record;
    {
      Tape tape;
      tape.backward(sum(layer.fused(x, {.record = &record}).hidden * weights));
    }
    // Step by step, every h_t is a tensor with its own gradient.
    Tape tape;
    RecurrentSession session(*layer.recurrent, {.steps = steps, .rows = rows});
    RecurrentState state = session.initial();
    const Tensor weight = layer.recurrent->effective_hidden_weight();
    std::vector<Tensor> states;
    Tensor loss = Tensor::zeros({});
    const auto mean_norm = [](const Tensor& h) {
      return static_cast<double>(sum(sqrt(sum_columns(square(h)))).item()) / rows;
    };
    for (size_t t = 0; t < steps; ++t) {
      const Tensor inputs = layer.recurrent->project(x.step(t)) + matmul(state.h, weight);
      const Tensor centered = inputs - mean_columns(inputs);
      CHECK(record.summed_input_mean[t] == doctest::Approx(mean(inputs).item()).epsilon(1e-4));
      CHECK(record.summed_input_deviation[t] ==
            doctest::Approx(mean(sqrt(mean_columns(square(centered)))).item()).epsilon(1e-4));
      state = session(x.step(t), state);
      CHECK(record.hidden_norm[t] == doctest::Approx(mean_norm(state.h)).epsilon(1e-5));
      states.push_back(state.h);
      loss = loss + sum(state.h * weights.step(t));
    }
    tape.backward(loss);
    for (size_t t = 0; t < steps; ++t)
      CHECK(record.hidden_gradient_norm[t] == doctest::Approx(mean_norm(states[t].gradient())).epsilon(1e-4));
  }
}

TEST_CASE("a record of summed inputs whose squares a float does not hold") {
  Parameters parameters(1);
  const Rnn rnn(parameters, "rnn", {.input = 3, .hidden = 5});
  const auto deviation = [&](double scale) {
    SequenceRecord record;
    (void)rnn(sample({1, 2, 3}, 1, -scale, scale), {.record = &record});
    return record.summed_input_deviation[0];
  };
  for (const double scale : {1e-25, 1e25})
    CHECK(deviation(scale) / scale == doctest::Approx(deviation(1)).epsilon(1e-4));
}

TEST_CASE("batch norm of equal cases leaves nothing of them, whatever rounding their sums have") {
  const size_t rows = 512, hidden = 40;
  Parameters parameters(1);
  const Lstm lstm(parameters, "lstm", {.input = 24, .hidden = hidden, .norm = Norm::batch});
  const Tensor one = sample({24}, 1, -3, 3);
  Tensor x({1, rows, 24});
  for (size_t i = 0; i < x.size(); ++i) x[i] = one[i % 24];
  // Every gate equals its bias, so the new memory is sig(0) tanh(0) = 0, and so is the state.
  const Tensor h = lstm(x).hidden;
  CHECK(std::ranges::all_of(h.values(), [](real value) { return value == 0; }));
}

TEST_CASE("what a relu cell cuts off gets derivative 0, also where the one that arrives is infinite") {
  Parameters parameters(1);
  const Rnn rnn(parameters, "rnn", {.input = 1, .hidden = 2}, relu_cell());
  std::ranges::copy(std::vector<real>{1, -1}, Tensor(rnn.input_weight).data());
  Tape tape;
  tape.backward(sum(sqrt(rnn(Tensor::full({1, 1, 1}, 4)).hidden)));  // h = 4 and 0
  CHECK(difference(rnn.bias.gradient(), {0.25, 0}) <= ulp);
}

TEST_CASE("errors of recurrent layers name shapes") {
  Parameters parameters(1);
  const auto make = [&](const RecurrentOptions& options) { Lstm(parameters, "bad", options); };
  CHECK_ERROR(make({.input = 3, .hidden = 0}),
              "recurrent 'bad': 3 inputs and 0 hidden units; both must be positive");
  CHECK_ERROR(make({.hidden = 3}), "recurrent 'bad': 0 inputs and 3 hidden units; both must be positive");
  CHECK_ERROR(make({.input = 3, .hidden = 4, .norm = Norm::rms}),
              "recurrent 'bad': norm is rms; choose none, layer, batch or weight");
  CHECK_ERROR(make_step_norm(parameters, "bad", {.norm = Norm::rms, .segments = {4, 0}}),
              "step norm 'bad': norm is rms; choose none, layer or batch");
  CHECK_ERROR(make({.input = 3, .hidden = 4, .norm = Norm::weight, .only_memory = true}),
              "recurrent 'bad': only_memory is for an LSTM under layer or batch norm");
  CHECK_ERROR(make({.input = 3, .hidden = 4, .norm = Norm::weight, .gain = 2}),
              "recurrent 'bad': a gain of 2 under weight norm, whose gains start as the lengths of the "
              "weight vectors; "
              "leave it out");
  CHECK_ERROR(Gru(parameters, "bad", {.input = 3, .hidden = 4, .norm = Norm::layer, .only_memory = true}),
              "recurrent 'bad': only_memory is for an LSTM under layer or batch norm");
  CHECK(contains(error_of([&] { make({.input = 3, .hidden = 4, .norm = Norm::batch, .checkpoint = true}); }),
                 "checkpoint"));

  const Gru gru(parameters, "gru", {.input = 3, .hidden = 4});
  const Tensor x = sample({5, 2, 3}, 1);
  CHECK_ERROR(gru(sample({5, 2, 4}, 1)), "recurrent 'gru': the input is [5 x 2 x 4]; [T x B x 3] is needed");
  CHECK_ERROR(gru(sample({2, 3}, 1)), "recurrent 'gru': the input is [2 x 3]; [T x B x 3] is needed");
  CHECK_ERROR(gru(Tensor({0, 2, 3})), "recurrent 'gru': the input [0 x 2 x 3] has no steps");
  CHECK_ERROR(gru(Tensor({5, 0, 3})), "recurrent 'gru': the input [5 x 0 x 3] has no cases");
  CHECK_ERROR(gru(x, {.mask = Tensor::ones({2, 5})}),
              "recurrent 'gru': the mask is [2 x 5] for an input of [5 x 2 x 3]; [5 x 2] is needed");
  CHECK_ERROR(gru(x, {.initial = {.h = Tensor::ones({2, 3})}}),
              "recurrent 'gru': the initial state is [2 x 3]; [2 x 4] is needed");
  CHECK_ERROR(gru(x, {.initial = {.c = Tensor::ones({2, 4})}}),
              "recurrent 'gru': an initial c was given, but only an LSTM has one");
}

TEST_CASE("batch norm without any step's population statistics is refused") {
  Parameters parameters(1);
  CHECK_ERROR(
      Lstm(parameters, "lstm", {.input = 2, .hidden = 3, .norm = Norm::batch, .max_steps = 0}),
      "recurrent 'lstm': max_steps is 0; batch norm needs population statistics of at least one step");
  const Lstm other(parameters, "other", {.input = 2, .hidden = 3, .norm = Norm::layer, .max_steps = 0});
}
