// nn.LSTM and nn.GRU of PyTorch, as recorded in tests/fixtures: values and gradients. The mapping of the
// gates is described in make_fixtures.py.

#include "tests/fixtures/torch_fixtures.h"
#include "tests/layers/recurrent/recurrent_cases.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr double tolerance = sizeof(real) == 8 ? 1e-10 : 1e-5;

Tensor wanted(const Shape& shape, const std::vector<double>& values) {
  return Tensor::from(shape, std::vector<real>(values.begin(), values.end())).require_gradient();
}

void check_equal(const Tensor& ours, const std::vector<double>& theirs) {
  const std::vector<real> expected(theirs.begin(), theirs.end());
  CHECK(difference(ours.values(), expected) < tolerance);
}

void set(Tensor to, const std::vector<double>& values) {
  REQUIRE(to.size() == values.size());
  std::ranges::transform(values, to.data(), [](double v) { return static_cast<real>(v); });
}

}  // namespace

// PyTorch has a second bias with W_h, zero here: for an LSTM only the sum of both matters.
TEST_CASE("torch: LSTM") {
  Parameters parameters(1);
  const Lstm lstm(parameters, "lstm", {.input = 3, .hidden = 4});
  set(lstm.input_weight, torch::lstm_input_weight);
  set(lstm.hidden_weight, torch::lstm_hidden_weight);
  set(lstm.bias, torch::lstm_bias);
  const Tensor x = wanted({3, 2, 3}, torch::lstm_x), h = wanted({2, 4}, torch::lstm_h0),
               c = wanted({2, 4}, torch::lstm_c0);
  Tape tape;
  const Sequence s = lstm(x, {.initial = {.h = h, .c = c}});
  check_equal(s.hidden, torch::lstm_hidden);
  check_equal(s.last.c, torch::lstm_last_c);
  tape.backward(sum(s.hidden * wanted({3, 2, 4}, torch::lstm_seed)) + sum(square(s.last.c)));
  check_equal(x.gradient(), torch::lstm_dx);
  check_equal(h.gradient(), torch::lstm_dh0);
  check_equal(c.gradient(), torch::lstm_dc0);
  check_equal(lstm.input_weight.gradient(), torch::lstm_dinput_weight);
  check_equal(lstm.hidden_weight.gradient(), torch::lstm_dhidden_weight);
  check_equal(lstm.bias.gradient(), torch::lstm_dbias);
}

TEST_CASE("torch: GRU") {
  Parameters parameters(1);
  const Gru gru(parameters, "gru", {.input = 3, .hidden = 4});
  set(gru.input_weight, torch::gru_input_weight);
  set(gru.hidden_weight, torch::gru_hidden_weight);
  set(gru.bias, torch::gru_bias);
  const Tensor x = wanted({3, 2, 3}, torch::gru_x), h = wanted({2, 4}, torch::gru_h0);
  Tape tape;
  const Sequence s = gru(x, {.initial = {.h = h}});
  check_equal(s.hidden, torch::gru_hidden);
  tape.backward(sum(s.hidden * wanted({3, 2, 4}, torch::gru_seed)));
  check_equal(x.gradient(), torch::gru_dx);
  check_equal(h.gradient(), torch::gru_dh0);
  check_equal(gru.input_weight.gradient(), torch::gru_dinput_weight);
  check_equal(gru.hidden_weight.gradient(), torch::gru_dhidden_weight);
  check_equal(gru.bias.gradient(), torch::gru_dbias);
}
