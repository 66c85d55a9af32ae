#include "layers/norms/weight_norm.h"

#include "core/gemm/gemm.h"
#include "core/math/norm2.h"
#include "core/ops.h"
#include "core/ops/map.h"

namespace lamina {

Tensor composed::weight_norm(const Tensor& v, const Tensor& gain) {
  return v / sqrt(sum_rows(square(v))) * gain;
}

namespace {

/// sum over i of term(i, j) for every column j, into [columns]; threads take columns.
template <class Term>
Tensor sum_down(size_t rows, size_t columns, const Term& term) {
  Tensor sums({columns});
  parallel_for(
      columns, grain_of(rows),
      [=, into = sums.data()](size_t begin, size_t end) {
        column_sums(rows, begin, end, into,
                    [=](size_t r) { return [=](size_t c) { return term(r * columns + c); }; });
      },
      16);
  return sums;
}

/// element(i, j) for every element i and its column j; threads take rows.
template <class Element>
void for_each_in_columns(size_t rows, size_t columns, const Element& element) {
  parallel_for(rows, grain_of(columns), [=](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r)
#pragma omp simd
      for (size_t c = 0; c < columns; ++c) element(r * columns + c, c);
  });
}

}  // namespace

Tensor column_norms(const Tensor& v) {
  Tensor norms = sum_down(v.rows(), v.columns(), [x = v.data()](size_t i) { return x[i] * x[i]; });
  const size_t rows = v.rows(), columns = v.columns();
  for (size_t c = 0; c < columns; ++c)
    norms[c] = norm2(norms[c], rows, [=, x = v.data()](size_t r) { return x[r * columns + c]; });
  return norms;
}

Tensor length_of_columns(const Tensor& v, const std::string& parameter) {
  Tensor norms = column_norms(v);
  for (size_t c = 0; c < norms.size(); ++c)
    if (norms[c] == 0)
      fail("weight_norm: column ", c, " of '", parameter, "' ", v.shape(),
           " starts with zeros, which have no direction; choose another initializer");
  return norms;
}

/// With s = g / norm2(v):  dg = (dw . v) / norm2(v),  dv = s (dw - v (dw . v) / norm2(v)^2)
Tensor weight_norm(const Tensor& v, const Tensor& gain) {
  if (v.shape().rank() != 2 || gain.shape() != Shape{v.columns()})
    fail("weight_norm: v is ", v.shape(), ", the gain ", gain.shape(), "; one gain a column is needed");
  const size_t rows = v.rows(), columns = v.columns();
  const Tensor norms = column_norms(v);
  Tensor scale({columns}), w(v.shape());
  for (size_t c = 0; c < columns; ++c) scale[c] = gain[c] / norms[c];
  for_each_in_columns(
      rows, columns,
      [=, in = v.data(), s = scale.data(), out = w.data()](size_t i, size_t c) { out[i] = in[i] * s[c]; });

  return record("weight_norm", w, {v, gain}, [=] {
    const real *const x = v.data(), *const dw = w.gradient_data();
    const Tensor along = sum_down(rows, columns, [=](size_t i) { return dw[i] * x[i]; });
    contribute(gain, [a = along.data(), n = norms.data()](size_t c) { return a[c] / n[c]; });
    if (!v.needs_gradient()) return;
    if (rows == 1) return contribute(v, [](size_t) { return real{0}; });  // its direction cannot change
    Tensor shrink({columns});
    for (size_t c = 0; c < columns; ++c) shrink[c] = along[c] / norms[c] / norms[c];
    const GradientSink sink = v.gradient_sink();
    for_each_in_columns(rows, columns, [=, s = scale.data(), k = shrink.data()](size_t i, size_t c) {
      sink.values[i] = (sink.add ? sink.values[i] : 0) + s[c] * (dw[i] - x[i] * k[c]);
    });
  });
}

/// With a = x v, s = g / norm2(v) and t_j = sum_n dy_nj a_nj:
///   y = a s + b,  dg = t / norm2(v),  dv = x^T (dy s) - v s t / norm2(v)^2,  dx = (dy s) v^T,  db = sum dy
Tensor weight_norm_linear(const Tensor& x, const Tensor& v, const Tensor& gain, const Tensor& bias) {
  if (v.shape().rank() != 2 || gain.shape() != Shape{v.columns()} || x.shape().rank() < 1 ||
      x.columns() != v.rows() || (bias.defined() && bias.shape() != gain.shape()))
    fail("weight_norm_linear: input ", x.shape(), ", v ", v.shape(), ", gain ", gain.shape(),
         bias.defined() ? text(", bias ", bias.shape()) : "",
         "; the input's last size must be v's first, gain and bias have one number per column");
  const size_t rows = x.rows(), inputs = v.rows(), outputs = v.columns();
  const Tensor norms = column_norms(v), offset = bias.defined() ? bias : Tensor::zeros({outputs});
  Tensor scale({outputs}), a(x.shape().with(-1, outputs)), y(a.shape());
  for (size_t c = 0; c < outputs; ++c) scale[c] = gain[c] / norms[c];
  gemm(rows, outputs, inputs, x.data(), inputs, v.data(), outputs, a.data(), outputs);
  for_each_in_columns(rows, outputs,
                      [=, in = a.data(), s = scale.data(), b = offset.data(), out = y.data()](
                          size_t i, size_t c) { out[i] = in[i] * s[c] + b[c]; });

  return record({"weight_norm_linear", OpKind::product}, y, {x, v, gain, bias}, [=] {
    const real* const dy = y.gradient_data();
    const Tensor along = sum_down(rows, outputs, [dy, in = a.data()](size_t i) { return dy[i] * in[i]; });
    contribute(gain, [t = along.data(), n = norms.data()](size_t c) { return t[c] / n[c]; });
    contribute_summed_rows(bias, rows, [=](size_t r, size_t c) { return dy[r * outputs + c]; });
    Tensor da(a.shape());
    for_each_in_columns(
        rows, outputs, [=, s = scale.data(), out = da.data()](size_t i, size_t c) { out[i] = dy[i] * s[c]; });
    if (x.needs_gradient()) {
      const GradientSink sink = x.gradient_sink();
      gemm(rows, inputs, outputs, da.data(), outputs, v.data(), outputs, sink.values, inputs,
           {.b = Transpose::yes, .accumulate = sink.add});
    }
    if (!v.needs_gradient()) return;
    if (inputs == 1) return contribute(v, [](size_t) { return real{0}; });  // its direction cannot change
    // Two factors: s / norm2(v)^2 overflows or underflows long before v does.
    Tensor inverse({outputs}), shrink({outputs});
    for (size_t c = 0; c < outputs; ++c) {
      inverse[c] = 1 / norms[c];
      shrink[c] = scale[c] * (along[c] / norms[c]);
    }
    const GradientSink sink = v.gradient_sink();
    gemm(inputs, outputs, rows, x.data(), inputs, da.data(), outputs, sink.values, outputs,
         {.a = Transpose::yes, .accumulate = sink.add});
    for_each_in_columns(inputs, outputs,
                        [dv = sink.values, from = v.data(), inv = inverse.data(), k = shrink.data()](
                            size_t i, size_t c) { dv[i] -= from[i] * inv[c] * k[c]; });
  });
}

}  // namespace lamina
