// What a cell may declare.

#include "core/error.h"
#include "layers/recurrent/cell.h"
#include "layers/recurrent/composed.h"
#include "layers/recurrent/recurrent.h"
#include "tests/check.h"

using namespace lamina;

TEST_CASE("cell form: a joint one may have a forget gate, under every norm") {
  struct Joint final : Cell {
    Joint() : Cell({.gates = 2, .segments = {2, 0}, .joint = true, .forget_gate = 1}) {}
    void forward(const CellForward&) const override {}
    void backward(const CellBackward&) const override {}
  };
  static const Joint joint;
  for (const Norm norm : {Norm::none, Norm::layer, Norm::batch, Norm::weight}) {
    Parameters parameters(1);
    const Recurrent layer(parameters, "r", joint,
                          {.input = 2, .hidden = 3, .norm = norm, .forget_bias = real(0.5)});
    const bool normalized = norm == Norm::layer || norm == Norm::batch;
    const Tensor& bias = normalized ? layer.hidden_norm.bias : layer.bias;
    CHECK(bias[2] == 0);
    CHECK(bias[3] == real(0.5));
  }
}

TEST_CASE("cell form: one that contradicts itself is refused") {
  struct Any final : Cell {
    using Cell::Cell;
    void forward(const CellForward&) const override {}
    void backward(const CellBackward&) const override {}
  };
  const auto forward_only = [](size_t, const real*, const real*, real*) {};
  CHECK_THROWS_WITH_AS(Any({.gates = 0}),
                       "cell: 0 gates in segments of 0 and 0; every gate belongs to one, the first must have "
                       "a gate, and only the "
                       "second may be empty",
                       Error);
  CHECK_THROWS_AS(Any({.gates = 2, .segments = {0, 2}}), Error);
  CHECK_THROWS_AS(Any({.gates = 3, .segments = {1, 1}}), Error);
  CHECK_THROWS_AS(Any({.gates = 1, .kept_gates = 2, .segments = {1, 0}}), Error);
  CHECK_THROWS_AS(Any({.gates = 1, .segments = {1, 0}, .forget_gate = 1}), Error);
  CHECK_THROWS_AS(Any({.gates = 2, .kept_gates = 1, .segments = {2, 0}, .joint = true}), Error);
  CHECK_THROWS_AS(Any({.gates = 1, .segments = {1, 0}, .output = {forward_only, nullptr}}), Error);
  CHECK_NOTHROW(Any({.gates = 2, .kept_gates = 1, .segments = {1, 1}, .forget_gate = 0}));
}

TEST_CASE("cell form: the twin of the simple layer is that of tanh and relu alone") {
  Parameters parameters(1);
  const Rnn gated(parameters, "own", {.input = 2, .hidden = 3}, gru_cell());
  CHECK_ERROR(composed::rnn_step(gated, Tensor::ones({1, 2}), {.h = Tensor::ones({1, 3})}),
              "rnn_step: 'own' has another cell than tanh and relu, which are all that is written here");
}
