// Two cells that the library does not have, each a declaration and its arithmetic, run as layers like the
// built-in ones.

#include "core/math/math.h"
#include "tests/layers/recurrent/recurrent_cases.h"

using namespace lamina;
using namespace lamina::test;

namespace {

real added(const CellForward& row, size_t i) { return row.added != nullptr ? row.added[i] : 0; }

/// A minimal gated unit (Zhou et al. 2016), whose gate multiplies U h as a GRU's r does. Gate order f, n:
///
///   h_t = h + sig(f) (n - h),  n = tanh(x_n + sig(f) u)
class MinimalGatedUnit final : public Cell {
 public:
  MinimalGatedUnit() : Cell({.gates = 2, .kept_gates = 1, .segments = {1, 1}, .forget_gate = 0}) {}

  void forward(const CellForward& row) const override {
    real *const f = row.gates, *const n = f + row.hidden;
    for (size_t j = 0; j < row.hidden; ++j) {
      f[j] = scalar::sigmoid(f[j] + added(row, j));
      n[j] = scalar::tanh(n[j] + f[j] * row.kept[j]);
      row.next[j] = row.previous[j] + f[j] * (n[j] - row.previous[j]);
    }
  }

  void backward(const CellBackward& row) const override {
    for (size_t j = 0; j < row.hidden; ++j) {
      const real f = row.gates[j], n = row.gates[row.hidden + j], u = row.kept[j], dh = row.dnext[j];
      const real da = dh * f * (1 - n * n);
      row.dgates[j] = (dh * (n - row.previous[j]) + da * u) * f * (1 - f);
      row.dgates[row.hidden + j] = da;
      row.dkept[j] = da * f;
      row.dprevious[j] = dh * (1 - f);
    }
  }
};

/// A memory with one gate for forgetting and input together. Gate order f, o, g:
///
///   c_t = c + sig(f) (tanh(g) - c),  h_t = sig(o) N(c_t)
class CoupledMemory final : public Cell {
 public:
  CoupledMemory() : Cell({.gates = 3, .segments = {3, 0}, .output = {output, output_backward}}) {}

  void forward(const CellForward& row) const override {
    real *const f = row.gates, *const o = f + row.hidden, *const g = o + row.hidden;
    for (size_t j = 0; j < row.hidden; ++j) {
      f[j] = scalar::sigmoid(f[j] + added(row, j));
      o[j] = scalar::sigmoid(o[j] + added(row, row.hidden + j));
      g[j] = scalar::tanh(g[j] + added(row, 2 * row.hidden + j));
      row.next[j] = row.previous[j] + f[j] * (g[j] - row.previous[j]);
    }
  }

  void backward(const CellBackward& row) const override {
    for (size_t j = 0; j < row.hidden; ++j) {
      const real f = row.gates[j], g = row.gates[2 * row.hidden + j], dc = row.dnext[j];
      row.dgates[j] = dc * (g - row.previous[j]) * f * (1 - f);
      row.dgates[2 * row.hidden + j] = dc * f * (1 - g * g);
      row.dprevious[j] = dc * (1 - f);
    }
  }

 private:
  static void output(size_t hidden, const real* gates, const real* c, real* h) {
    for (size_t j = 0; j < hidden; ++j) h[j] = gates[hidden + j] * c[j];
  }
  static void output_backward(size_t hidden, const real* gates, const real* c, const real* dh, real* dgates,
                              real* dc) {
    for (size_t j = 0; j < hidden; ++j) {
      const real o = gates[hidden + j], upstream = dh[j];
      dc[j] = upstream * o;
      dgates[hidden + j] = upstream * c[j] * o * (1 - o);
    }
  }
};

}  // namespace

TEST_CASE("a cell of one's own: fused, in every norm, masked, checkpointed, a step a call") {
  const MinimalGatedUnit unit;
  const CoupledMemory memory;
  for (const Cell* const cell : {static_cast<const Cell*>(&unit), static_cast<const Cell*>(&memory)})
    for (Case c : all_cases()) {
      if (c.kind != Kind::lstm || c.state_given || (c.options.only_memory && !cell->form().memory()))
        continue;
      CAPTURE(text("gates ", cell->form().gates, ", ", describe(c)));
      AnyLayer layer(c, *cell);
      const Inputs in = inputs_of(c);
      if (!c.options.reverse) check_same(layer, in, layer.fused, layer.step_by_step);
#ifdef LAMINA_DOUBLE
      CHECK(check_gradient(
                leaves(layer, in), [&] { return loss_of(in, layer.fused); }, 1e-4)
                .worst_error < 1e-6);
#endif
      if (c.options.norm == Norm::batch) continue;
      const auto whole = loss_and_gradients(layer, in, layer.fused);
      c.options.checkpoint = true;
      const AnyLayer again(c, *cell);
      const auto pieces = loss_and_gradients(again, in, again.fused);
      for (size_t i = 0; i < whole.size(); ++i) CHECK(identical(whole[i], pieces[i]));
    }
}
