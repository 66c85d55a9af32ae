// The epsilon that the experiments' normalizations use, measured from outputs: 1e-5, added to the variance inside the
// root (models/FIDELITY.md, "Common"). No experiment sets another.
//
// Every quantity here has mean 0 and deviation d, so that its normalized values are +-y, y = d / sqrt(d^2 + epsilon).

#include <cmath>

#include "layers/norms/batch_norm.h"
#include "layers/norms/group_norm.h"
#include "layers/norms/layer_norm.h"
#include "layers/recurrent/recurrent.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr double d = 1e-3;

void check_epsilon(double deviation, double normalized) {
  CHECK(std::pow(deviation / normalized, 2) - deviation * deviation ==
        doctest::Approx(1e-5).epsilon(2e-3).scale(0));
}

Tensor ones(size_t n) { return Tensor::ones({n}); }
Tensor zeros(size_t n) { return Tensor::zeros({n}); }

/// One step from a state of zeros whose summed inputs are +-`input`: over the two units of each gate and the one case
/// under layer norm, over the two cases of the one unit under batch norm.
RecurrentState one_step(const Cell& cell, Norm norm, double input = d) {
  const bool by_unit = norm == Norm::layer;
  const size_t units = by_unit ? 2 : 1, cases = by_unit ? 1 : 2;
  Parameters parameters(1);
  Recurrent layer(parameters, "layer", cell,
                  {.input = 1, .hidden = units, .norm = norm, .gain = 1, .max_steps = 1});
  for (size_t i = 0; i < layer.input_weight.size(); ++i)
    layer.input_weight.data()[i] = real(by_unit && i % 2 == 1 ? -input : input);
  const Tensor x = by_unit ? Tensor::from({1, 1, 1}, {1}) : Tensor::from({1, 2, 1}, {1, -1});
  const RecurrentState last = layer(x).last;
  CHECK(last.h.size() == units * cases);
  return last;
}

double number(const Tensor& values, size_t i) { return static_cast<double>(values[i]); }

}  // namespace

TEST_CASE("epsilon of layer, batch and group norm") {
  const real a = real(d), b = real(-d);
  check_epsilon(d, number(layer_norm(Tensor::from({1, 2}, {a, b}), ones(2), zeros(2)), 0));
  check_epsilon(d, number(batch_norm(Tensor::from({2, 1}, {a, b}), ones(1), zeros(1)), 0));
  check_epsilon(d, number(group_norm(Tensor::from({1, 2}, {a, b}), ones(2), zeros(2), {.groups = 1}), 0));
  Parameters parameters(1);
  BatchNorm layer(parameters, "norm", {.features = 1});
  check_epsilon(d, number(layer(Tensor::from({2, 1}, {a, b}), Mode::train), 0));
  layer.running_mean.data()[0] = 0;
  layer.running_variance.data()[0] = real(d * d);
  check_epsilon(d, number(layer(Tensor::from({1, 1}, {a}), Mode::evaluate), 0));
  check_epsilon(d, number(layer(Tensor::from({1, 1, 2, 1}, {a, b}), Mode::train), 0));  // feature maps
}

TEST_CASE("epsilon of recurrent layers: summed inputs") {
  for (const Norm norm : {Norm::layer, Norm::batch}) {
    CAPTURE(norm == Norm::layer);
    // h = tanh(+-y)
    check_epsilon(d, std::atanh(number(one_step(tanh_cell(), norm).h, 0)));
    // LSTM: c = sig(i) tanh(g) is sig(y) tanh(y) and -sig(-y) tanh(y), whose difference is tanh(y).
    const RecurrentState lstm = one_step(lstm_cell(), norm);
    check_epsilon(d, std::atanh(number(lstm.c, 0) - number(lstm.c, 1)));
    // GRU: h = sig(z) n, likewise.
    const RecurrentState gru = one_step(gru_cell(), norm);
    check_epsilon(d, std::atanh(number(gru.h, 0) - number(gru.h, 1)));
  }
}

TEST_CASE("epsilon of recurrent layers: an LSTM's memory") {
  for (const Norm norm : {Norm::layer, Norm::batch}) {
    CAPTURE(norm == Norm::layer);
    // h = sig(o) tanh(N(c)) with o = y. Such small summed inputs give a memory whose variance is below
    // epsilon.
    const RecurrentState last = one_step(lstm_cell(), norm, 1e-6);
    const double spread = (number(last.c, 0) - number(last.c, 1)) / 2, o = std::atanh(2 * spread);
    check_epsilon(spread, std::atanh(number(last.h, 0) * (1 + std::exp(-o))));
  }
}
