// What a cell may declare.

#include "core/error.h"
#include "core/math/math.h"
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

namespace {

/// c = f c_{t-1} + (1 - f) g, and h = gate tanh(c) of gate `out`.
template <size_t out>
struct OwnMemory final : Cell {
  OwnMemory() : Cell({.gates = 3, .segments = {3, 0}, .output = {output, output_backward}}) {}
  static void output(size_t hidden, const real* gates, const real* c, real* h) {
    for (size_t j = 0; j < hidden; ++j) h[j] = gates[out * hidden + j] * scalar::tanh(c[j]);
  }
  static void output_backward(size_t hidden, const real* gates, const real* c, const real* dh, real* dgates,
                              real* dc) {
    for (size_t j = 0; j < hidden; ++j) {
      const real gate = gates[out * hidden + j], t = scalar::tanh(c[j]), upstream = dh[j];
      dgates[out * hidden + j] = upstream * t * gate * (1 - gate);
      dc[j] = upstream * gate * (1 - t * t);
    }
  }
  void forward(const CellForward& row) const override {
    const size_t n = row.hidden;
    for (size_t i = 0; i < 3 * n; ++i) {
      const real sum = row.gates[i] + (row.added != nullptr ? row.added[i] : 0);
      row.gates[i] = i / n == 1 ? scalar::tanh(sum) : scalar::sigmoid(sum);
    }
    for (size_t j = 0; j < n; ++j)
      row.next[j] = row.gates[j] * row.previous[j] + (1 - row.gates[j]) * row.gates[n + j];
  }
  void backward(const CellBackward& row) const override {
    const size_t n = row.hidden;
    for (size_t j = 0; j < n; ++j) {
      const real f = row.gates[j], g = row.gates[n + j], dc = row.dnext[j];
      row.dgates[j] = dc * (row.previous[j] - g) * f * (1 - f);
      row.dgates[n + j] = dc * (1 - f) * (1 - g * g);
      row.dprevious[j] = dc * f;
    }
  }
};

}  // namespace

TEST_CASE("cell form: a gate that both the memory and the output read is refused, one of their own is not") {
  static const OwnMemory<0> same;
  static const OwnMemory<2> own;
  Parameters parameters(1);
  CHECK_ERROR(Recurrent(parameters, "r", same, {.input = 2, .hidden = 3}),
              "cell: its memory and its output read the same gate, and its gradients would be wrong; give "
              "each its own");
  CHECK_NOTHROW(Recurrent(parameters, "own", own, {.input = 2, .hidden = 3}));
  CHECK_NOTHROW(Recurrent(parameters, "lstm", lstm_cell(), {.input = 2, .hidden = 3}));
}

TEST_CASE("cell form: there are twins of the cells of cell.h alone") {
  static const OwnMemory<2> own;
  Parameters parameters(1);
  const Recurrent layer(parameters, "own", own, {.input = 2, .hidden = 3});
  CHECK_ERROR(
      composed::step(layer, Tensor::ones({1, 2}), {.h = Tensor::ones({1, 3})}),
      "composed::step: 'own' has another cell than tanh, relu, LSTM's and GRU's, which are all that is "
      "written here");
}
