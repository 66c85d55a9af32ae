// Exercise: an op of your own with two operands, of which one is repeated.
#include "exercises.h"

#include <lamina/extend.h>
using namespace lamina;

Tensor scale_columns(const Tensor& x, const Tensor& gain) {
  require_values("scale_columns", x, gain);
  const size_t rows = x.rows(), columns = x.columns();
  if (gain.shape() != Shape{columns})
    fail("scale_columns: gains ", gain.shape(), " for ", x.shape(), ": give one per column");
  const real *const from = x.data(), *const factors = gain.data();
  const Tensor y = generate(x.shape(), [=](size_t i) { return from[i] * factors[i % columns]; });
  return record("scale_columns", y, {x, gain}, [=] {
    const real *const in = x.data(), *const g = gain.data(), *const dy = y.gradient_data();
    // [ your code: contribute(x, [=](size_t i) { return dx_i; }): element i is in column i % columns
    contribute(x, [=](size_t i) { return dy[i] * g[i % columns]; });
    // | contribute(x, [=](size_t) { return real(0); });
    // ]
    // mistake: your dx lacks the gain
    // ~ contribute(x, [=](size_t i) { return dy[i]; });
    // mistake: your dx has x where the gain belongs
    // ~ contribute(x, [=](size_t i) { return dy[i] * in[i]; });
    // mistake: your dx takes the gains in the wrong order: element i is in column i % columns
    // ~ contribute(x, [=](size_t i) { return dy[i] * g[i / rows]; });
    // mistake: your dx is right in the first row only: element i is in column i % columns
    // ~ contribute(x, [=](size_t i) { return i < columns ? dy[i] * g[i] : 0; });
    // mistake: your dx overwrites what another op has contributed to x; it must add to it
    // ~ if (x.needs_gradient()) {
    // ~   const GradientSink dx = x.gradient_sink();
    // ~   for (size_t i = 0; i < x.size(); ++i) dx.values[i] = dy[i] * g[i % columns];
    // ~ }
    // [ your code: contribute_summed_rows(gain, rows, [=](size_t r, size_t c) { return ...; }) sums over the rows r
    contribute_summed_rows(gain, rows, [=](size_t r, size_t c) {
      const size_t i = r * columns + c;
      return dy[i] * in[i];
    });
    // | contribute(gain, [=](size_t) { return real(0); });
    // ]
    // mistake: your d(gain) lacks the sum over the rows
    // ~ contribute(gain, [=](size_t c) { return dy[c] * in[c]; });
    // mistake: your d(gain) lacks the factor x
    // ~ contribute_summed_rows(gain, rows, [=](size_t r, size_t c) { return dy[r * columns + c]; });
    // mistake: your d(gain) has the gain as a factor; it belongs into dx
    // ~ contribute_summed_rows(gain, rows, [=](size_t r, size_t c) { return dy[r * columns + c] * in[r * columns + c] * g[c]; });
    // mistake: your d(gain) is the mean over the rows; it is the sum
    // ~ contribute_summed_rows(gain, rows, [=](size_t r, size_t c) { return dy[r * columns + c] * in[r * columns + c] / static_cast<real>(rows); });
    // mistake: your d(gain) overwrites what another op has contributed to gain; it must add to it
    // ~ if (!gain.needs_gradient()) return;
    // ~ const GradientSink dgain = gain.gradient_sink();
    // ~ for (size_t c = 0; c < columns; ++c) dgain.values[c] = 0;
    // ~ for (size_t i = 0; i < x.size(); ++i) dgain.values[i % columns] += dy[i] * in[i];
  });
}
