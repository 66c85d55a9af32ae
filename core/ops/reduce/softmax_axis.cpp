#include "core/ops/reduce/softmax_axis.h"

#include <algorithm>
#include <cmath>

#include "core/math/exponential_sum.h"
#include "core/math/sum.h"
#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"
#include "core/ops/loss/loss.h"
#include "core/ops/reduce/axis.h"
#include "core/ops/reduce/reduce_axis.h"

namespace lamina {

namespace {

/// The largest number of each of some columns of a matrix whose rows are `stride` long.
void largest_of_columns(const real* x, size_t count, size_t stride, size_t width, real* largest) {
  std::copy_n(x, width, largest);
  for (size_t k = 1; k < count; ++k) {
    const real* const row = x + k * stride;
#pragma omp simd
    for (size_t c = 0; c < width; ++c) largest[c] = row[c] > largest[c] ? row[c] : largest[c];
  }
}

/// Some columns of one of the matrices [along x inner] that a tensor seen from an axis consists of.
struct Columns {
  size_t along, inner, first, width;
  Columns(const AxisView& view, size_t o, size_t begin, size_t end)
      : along(view.along),
        inner(view.inner),
        first(o * view.along * view.inner + begin),
        width(end - begin) {}
  size_t row(size_t k) const { return first + k * inner; }

  /// sums[c] = sum_k term(i) with i the place of row k and column c
  template <class Term>
  void sum(real* sums, const Term& term) const {
    column_sums(along, 0, width, sums,
                [&](size_t k) { return [&, at = row(k)](size_t c) { return term(at + c, c); }; });
  }
  /// element(i, c) for each place i and its column
  template <class Element>
  void each(const Element& element) const {
    for (size_t k = 0; k < along; ++k) {
      const size_t at = row(k);
#pragma omp simd
      for (size_t c = 0; c < width; ++c) element(at + c, c);
    }
  }
};

/// Applies an op on the last axis to an axis that is followed only by axes of size 1.
Tensor of_rows(Tensor (*op)(const Tensor&), const Tensor& x, const AxisView& view) {
  return op(x.reshape({view.outer, view.along})).reshape(x.shape());
}

}  // namespace

/// y_k = e^x_k / sum_j e^x_j;  dx_k = y_k (dy_k - sum_j dy_j y_j)
Tensor softmax(const Tensor& x, int axis) {
  const AxisView view = view_with_some("softmax", x, axis);
  if (view.inner == 1) return of_rows(softmax, x, view);
  Tensor y(x.shape());
  for_each_columns(view, [=, in = x.data(), out = y.data()](size_t o, size_t begin, size_t end) {
    const Columns columns(view, o, begin, end);
    real largest[columns_together], total[columns_together];
    largest_of_columns(in + columns.first, columns.along, columns.inner, columns.width, largest);
    columns.each([&](size_t i, size_t c) { out[i] = scalar::exp(in[i] - largest[c]); });
    columns.sum(total, [&](size_t i, size_t) { return out[i]; });
    columns.each([&](size_t i, size_t c) { out[i] /= total[c]; });
  });
  return record("softmax", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    const real *const p = y.data(), *const dy = y.gradient_data();
    for_each_columns(view, [=, dx = sink.values](size_t o, size_t begin, size_t end) {
      const Columns columns(view, o, begin, end);
      real inner[columns_together];
      columns.sum(inner, [&](size_t i, size_t) { return dy[i] * p[i]; });
      columns.each([&](size_t i, size_t c) { dx[i] = (sink.add ? dx[i] : 0) + p[i] * (dy[i] - inner[c]); });
    });
  });
}

/// y_k = x_k - log sum_j e^x_j;  dx_k = dy_k - e^y_k sum_j dy_j
Tensor log_softmax(const Tensor& x, int axis) {
  const AxisView view = view_with_some("log_softmax", x, axis);
  if (view.inner == 1) return of_rows(log_softmax, x, view);
  Tensor y(x.shape());
  for_each_columns(view, [=, in = x.data(), out = y.data()](size_t o, size_t begin, size_t end) {
    const Columns columns(view, o, begin, end);
    real largest[columns_together], log_total[columns_together];
    largest_of_columns(in + columns.first, columns.along, columns.inner, columns.width, largest);
    columns.sum(log_total, [&](size_t i, size_t c) { return scalar::exp(in[i] - largest[c]); });
    for (size_t c = 0; c < columns.width; ++c) log_total[c] = std::log(log_total[c]);
    columns.each([&](size_t i, size_t c) { out[i] = (in[i] - largest[c]) - log_total[c]; });
  });
  return record("log_softmax", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    const real *const out = y.data(), *const dy = y.gradient_data();
    for_each_columns(view, [=, dx = sink.values](size_t o, size_t begin, size_t end) {
      const Columns columns(view, o, begin, end);
      real total[columns_together];
      columns.sum(total, [&](size_t i, size_t) { return dy[i]; });
      columns.each([&](size_t i, size_t c) {
        dx[i] = (sink.add ? dx[i] : 0) + dy[i] - scalar::exp(out[i]) * total[c];
      });
    });
  });
}

namespace {

/// What is subtracted from exponents: infinite numbers minus infinity would be NaN.
real shift_of(real largest) { return std::isinf(largest) ? 0 : largest; }

/// sum_k e^x_k = e^shift total, for each element of the result
void find_exponential_sums(const AxisView& view, const real* x, real* shifts, real* totals) {
  const size_t along = view.along, inner = view.inner;
  for_each_columns(view, [=](size_t o, size_t begin, size_t end) {
    const Columns columns(view, o, begin, end);
    real *const shift = shifts + o * inner + begin, *const total = totals + o * inner + begin;
    if (inner == 1) {
      const real* const row = x + columns.first;
      const real least = *shift = shift_of(largest_of(row, along));
      *total = sum_over(along, [=](size_t k) { return scalar::exp(row[k] - least); });
      return;
    }
    largest_of_columns(x + columns.first, along, inner, columns.width, shift);
    for (size_t c = 0; c < columns.width; ++c) shift[c] = shift_of(shift[c]);
    columns.sum(total, [=](size_t i, size_t c) { return scalar::exp(x[i] - shift[c]); });
  });
}

}  // namespace

/// y = s + log t, t = sum_k e^(x_k - s);  dx_k = dy e^(x_k - s) / t
Tensor log_sum_exp(const Tensor& x, int axis, const AxisOptions& options) {
  const AxisView view = view_with_some("log_sum_exp", x, axis);
  const Shape shape = reduced(x.shape(), axis, options);
  Tensor shifts(shape), totals(shape);
  find_exponential_sums(view, x.data(), shifts.data(), totals.data());
  const Tensor y = generate(shape, [shift = shifts.data(), total = totals.data()](size_t j) {
    return shift[j] + std::log(total[j]);
  });
  // Beside an infinity nothing else has a share in the sum, however large its own exponential.
  for (size_t j = 0; j < totals.size(); ++j)
    if (std::isinf(totals.data()[j])) shifts.data()[j] = totals.data()[j];
  return record("log_sum_exp", y, {x}, [=] {
    const Tensor factors = generate(shape, [dy = y.gradient_data(), total = totals.data()](size_t j) {
      return total[j] == 0 ? 0 : dy[j] / total[j];
    });
    const GradientSink sink = x.gradient_sink();
    const Broadcast pairs("log_sum_exp", x.shape(), x.shape().with(axis, 1));
    for_each_position(pairs, [=, dx = sink.values, in = x.data(), shift = shifts.data(),
                              factor = factors.data()](size_t i, size_t, size_t j) {
      dx[i] = (sink.add ? dx[i] : 0) + factor[j] * scalar::exp(in[i] - shift[j]);
    });
  });
}

Tensor composed::softmax(const Tensor& x, int axis) {
  const Tensor e = exp(x - max(x.detach(), axis, {.keep = true}));
  return e / sum(e, axis, {.keep = true});
}

Tensor composed::log_softmax(const Tensor& x, int axis) {
  return x - composed::log_sum_exp(x, axis, {.keep = true});
}

Tensor composed::log_sum_exp(const Tensor& x, int axis, const AxisOptions& options) {
  const Tensor largest = max(x.detach(), axis, options);
  return largest + log(sum(exp(x - largest.reshape(x.shape().with(axis, 1))), axis, options));
}

}  // namespace lamina
