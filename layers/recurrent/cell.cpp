#include "layers/recurrent/cell.h"

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/math/math.h"

namespace lamina {

namespace {

/// The hidden part where there is one to add, else 0.
template <bool adds>
real part(const real* added, size_t i) {
  if constexpr (adds)
    return added[i];
  else
    return 0;
}

struct Tanh {
  static real f(real a) { return scalar::tanh(a); }
  static real back(real dh, real h) { return dh * (1 - h * h); }
};

struct Relu {
  static real f(real a) { return a < 0 ? 0 : a; }
  static real back(real dh, real h) { return h > 0 ? dh : 0; }
};

/// h = f(a);  da = dh f'(a), which both functions compute from h
template <class Function>
class SimpleCell final : public Cell {
 public:
  SimpleCell() : Cell({.gates = 1, .segments = {1, 0}, .joint = true}) {}

  void forward(const CellForward& row) const override {
    const real* const a = row.gates;
    real* const h = row.next;
#pragma omp simd
    for (size_t j = 0; j < row.hidden; ++j) h[j] = Function::f(a[j]);
  }

  void backward(const CellBackward& row) const override {
    const real *const h = row.next, *const dh = row.dnext;
    real *const da = row.dgates, *const dprevious = row.dprevious;
#pragma omp simd
    for (size_t j = 0; j < row.hidden; ++j) {
      da[j] = Function::back(dh[j], h[j]);
      dprevious[j] = 0;
    }
  }
};

/// h = o tanh(c)
void lstm_output(size_t hidden, const real* gates, const real* c, real* h) {
  const real* const o = gates + 2 * hidden;
#pragma omp simd
  for (size_t j = 0; j < hidden; ++j) h[j] = o[j] * scalar::tanh(c[j]);
}

/// do = dh tanh(c) o (1 - o),  dc = dh o (1 - tanh(c)^2); tanh is recomputed, cheaper than storing it
void lstm_output_backward(size_t hidden, const real* gates, const real* c, const real* dh, real* dgates,
                          real* dc) {
  const real* const o = gates + 2 * hidden;
  real* const d_o = dgates + 2 * hidden;
#pragma omp simd
  for (size_t j = 0; j < hidden; ++j) {
    const real t = scalar::tanh(c[j]), output = o[j], upstream = dh[j];
    d_o[j] = upstream * t * output * (1 - output);
    dc[j] = upstream * output * (1 - t * t);
  }
}

/// With f, i, o, g activated in place:  c_t = f c_{t-1} + i g
///   df = dc c_{t-1} f (1 - f),  di = dc g i (1 - i),  dg = dc i (1 - g^2),  dc_{t-1} = dc f
class LstmCell final : public Cell {
 public:
  LstmCell()
      : Cell({.gates = 4,
              .segments = {4, 0},
              .forget_gate = 0,
              .output = {.forward = lstm_output, .backward = lstm_output_backward}}) {}

  void forward(const CellForward& row) const override {
    row.added != nullptr ? run<true>(row) : run<false>(row);
  }

  void backward(const CellBackward& row) const override {
    const size_t hidden = row.hidden;
    const real *const f = row.gates, *const i = f + hidden, *const g = f + 3 * hidden;
    const real *const c = row.previous, *const dc = row.dnext;
    real *const df = row.dgates, *const di = df + hidden, *const dg = df + 3 * hidden,
                *const dprevious = row.dprevious;
#pragma omp simd
    for (size_t j = 0; j < hidden; ++j) {  // reads all inputs before it writes
      const real forget = f[j], input = i[j], candidate = g[j], upstream = dc[j];
      df[j] = upstream * c[j] * forget * (1 - forget);
      di[j] = upstream * candidate * input * (1 - input);
      dg[j] = upstream * input * (1 - candidate * candidate);
      dprevious[j] = upstream * forget;
    }
  }

 private:
  template <bool adds>
  static void run(const CellForward& row) {
    const size_t hidden = row.hidden;
    real *const f = row.gates, *const i = f + hidden, *const o = f + 2 * hidden, *const g = f + 3 * hidden;
    const real *const added = row.added, *const previous = row.previous;
    real* const c = row.next;
    // Two short loops: a CPU then has more elements in flight.
#pragma omp simd
    for (size_t j = 0; j < hidden; ++j) {
      f[j] = scalar::sigmoid(f[j] + part<adds>(added, j));
      i[j] = scalar::sigmoid(i[j] + part<adds>(added, hidden + j));
    }
#pragma omp simd
    for (size_t j = 0; j < hidden; ++j) {
      o[j] = scalar::sigmoid(o[j] + part<adds>(added, 2 * hidden + j));
      g[j] = scalar::tanh(g[j] + part<adds>(added, 3 * hidden + j));
      c[j] = f[j] * previous[j] + i[j] * g[j];
    }
  }
};

/// With z, r, n activated in place and u the hidden part of n:  h_t = h + z (n - h)
///   dz = dh (n - h) z (1 - z),  da_n = dh z (1 - n^2),  dr = da_n u r (1 - r),  du = da_n r,
///   dh_{t-1} = dh (1 - z)
class GruCell final : public Cell {
 public:
  GruCell() : Cell({.gates = 3, .kept_gates = 1, .segments = {2, 1}}) {}

  void forward(const CellForward& row) const override {
    row.added != nullptr ? run<true>(row) : run<false>(row);
  }

  void backward(const CellBackward& row) const override {
    const size_t hidden = row.hidden;
    const real *const z = row.gates, *const r = z + hidden, *const n = r + hidden;
    const real *const u = row.kept, *const h = row.previous, *const dh = row.dnext;
    real *const dz = row.dgates, *const dr = dz + hidden, *const dn = dr + hidden, *const du = row.dkept,
                *const dprevious = row.dprevious;
#pragma omp simd
    for (size_t j = 0; j < hidden; ++j) {  // reads all inputs before it writes
      const real update = z[j], reset = r[j], candidate = n[j], kept = u[j], upstream = dh[j];
      const real dcandidate = upstream * update * (1 - candidate * candidate);
      dz[j] = upstream * (candidate - h[j]) * update * (1 - update);
      dr[j] = dcandidate * kept * reset * (1 - reset);
      dn[j] = dcandidate;
      du[j] = dcandidate * reset;
      dprevious[j] = upstream * (1 - update);
    }
  }

 private:
  template <bool adds>
  static void run(const CellForward& row) {
    const size_t hidden = row.hidden;
    real *const z = row.gates, *const r = z + hidden, *const n = r + hidden;
    const real *const added = row.added, *const u = row.kept, *const previous = row.previous;
    real* const h = row.next;
    // Two short loops: a CPU then has more elements in flight than in one loop, where n waits for r.
#pragma omp simd
    for (size_t j = 0; j < hidden; ++j) {
      z[j] = scalar::sigmoid(z[j] + part<adds>(added, j));
      r[j] = scalar::sigmoid(r[j] + part<adds>(added, hidden + j));
    }
#pragma omp simd
    for (size_t j = 0; j < hidden; ++j) {
      n[j] = scalar::tanh(n[j] + r[j] * u[j]);
      h[j] = previous[j] + z[j] * (n[j] - previous[j]);
    }
  }
};

/// A cell has no state: one of a kind serves all layers.
template <class Kind>
const Cell& the_one() {
  static const Kind cell;
  return cell;
}

}  // namespace

Cell::Cell(const CellForm& form) : form_(form) {
  const auto [gates, kept, segments, joint, forget, output] = form;
  if (segments[0] == 0 || segments[0] + segments[1] != gates)
    fail("cell: ", gates, " gates in segments of ", segments[0], " and ", segments[1],
         "; every gate belongs to one, the first must have a gate, and only the second may be empty");
  if (kept > gates || forget.value_or(0) >= gates)
    fail("cell: kept_gates is ", kept, " and forget_gate is ", forget.value_or(0), " of ", gates, " gates");
  if (joint && (kept > 0 || form.memory()))
    fail("cell: a joint form has neither kept gates nor a memory; normalize the parts apart (joint = false)");
  if (form.memory() != (output.backward != nullptr))
    fail("cell: an output needs both a forward and a backward function");
}

void require_gates_apart(const Cell& cell) {
  const CellForm& form = cell.form();
  if (!form.memory()) return;
  std::vector<real> gates(form.gates), kept(form.kept_gates);
  for (size_t i = 0; i < gates.size(); ++i) gates[i] = real(0.3) - real(0.2) * static_cast<real>(i);
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = real(0.4) - real(0.3) * static_cast<real>(i);
  const real previous = real(0.6), dh = real(0.8);
  real next = 0, dc = 0;
  cell.forward({.hidden = 1,
                .gates = gates.data(),
                .added = nullptr,
                .kept = kept.data(),
                .previous = &previous,
                .next = &next});
  constexpr real untouched = real(1e6);
  std::vector<real> written(gates.size(), untouched), after = gates;
  form.output.backward(1, gates.data(), &next, &dh, written.data(), &dc);
  for (size_t i = 0; i < gates.size(); ++i)
    if (written[i] != untouched) after[i] = written[i] + 1;
  // What backward() says of the row: all gradients, one after another.
  const auto gradients_of = [&](const std::vector<real>& left) {
    std::vector<real> gradients(gates.size() + kept.size() + 1);
    const real dnext = real(0.7);
    cell.backward({.hidden = 1,
                   .gates = left.data(),
                   .kept = kept.data(),
                   .previous = &previous,
                   .next = &next,
                   .dnext = &dnext,
                   .dgates = gradients.data(),
                   .dkept = gradients.data() + gates.size(),
                   .dprevious = &gradients.back()});
    return gradients;
  };
  const std::vector<real> right = gradients_of(gates), late = gradients_of(after);
  for (size_t i = 0; i < right.size(); ++i) {
    const bool of_output = i < gates.size() && written[i] != untouched;  // which backward() leaves alone
    if (!of_output && right[i] != late[i] && !std::isnan(right[i]))
      fail(
          "cell: its memory and its output read the same gate, and its gradients would be wrong; give each "
          "its own");
  }
}

const Cell& tanh_cell() { return the_one<SimpleCell<Tanh>>(); }
const Cell& relu_cell() { return the_one<SimpleCell<Relu>>(); }
const Cell& lstm_cell() { return the_one<LstmCell>(); }
const Cell& gru_cell() { return the_one<GruCell>(); }

}  // namespace lamina
