#include <limits>

#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"
#include "core/ops/map.h"

namespace lamina {

// Functions of two variables. Where the second operand alone is repeated, and as a whole row, column or number, it is
// read through a Repeat, which maps the position in a to the position in b. All other pairs go through a Broadcast.
// The gradient of what is repeated is the sum over all positions that read the same element.

namespace {

enum class Repeat { none, row, column, number, by_axes };

/// Whether b is a column of a, both seen as matrices, and NumPy's rule does not pair them otherwise.
bool is_column(const Shape& a, const Shape& b) {
  if (b.columns() != 1 || b.rows() != a.rows()) return false;
  const Shape by_axes = numpy_shape(a, b);
  return by_axes == Shape::none() || by_axes == a;
}

Repeat repetition(const Tensor& a, const Tensor& b) {
  if (a.shape() == b.shape()) return Repeat::none;
  if (b.size() == 1) return Repeat::number;
  if (b.shape().rank() == 1 && b.columns() == a.columns()) return Repeat::row;
  return is_column(a.shape(), b.shape()) ? Repeat::column : Repeat::by_axes;
}

/// element(i, j) for each element i of a and the element j of b that it meets.
template <Repeat repeat, class Element>
void for_each_pair(size_t rows, size_t columns, const Element& element) {
  if constexpr (repeat == Repeat::none) {
    for_each_index(rows * columns, [=](size_t i) { element(i, i); });
  } else if constexpr (repeat == Repeat::number) {
    for_each_index(rows * columns, [=](size_t i) { element(i, size_t{0}); });
  } else {
    parallel_for(rows, grain_of(columns), [&](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r)
#pragma omp simd
        for (size_t c = 0; c < columns; ++c) element(r * columns + c, repeat == Repeat::row ? c : r);
    });
  }
}

/// db[j] += sum over the elements i that met b[j] of value(i, j), for a column or a number. On one thread, so
/// that the order is fixed.
template <class Value>
void contribute_summed_columns(const Tensor& b, Repeat repeat, size_t rows, size_t columns,
                               const Value& value) {
  const GradientSink sink = b.gradient_sink();
  const size_t met = repeat == Repeat::column ? columns : rows * columns;  // elements of a by one of b
  for (size_t j = 0; j < b.size(); ++j) {
    const real total = sum_over(met, [=](size_t i) { return value(j * met + i, j); });
    sink.values[j] = (sink.add ? sink.values[j] : 0) + total;
  }
}

/// y = f(a, b); da = by_a(dy, a, b), db = by_b(dy, a, b) summed over repetitions.
template <Repeat repeat, class Function, class ByA, class ByB>
Tensor binary_as(const char* op, const Tensor& a, const Tensor& b, const Function& function, const ByA& by_a,
                 const ByB& by_b) {
  const size_t rows = a.rows(), columns = a.columns();
  Tensor result(a.shape());
  for_each_pair<repeat>(rows, columns,
                        [=, x = a.data(), z = b.data(), y = result.data()](size_t i, size_t j) {
                          y[i] = function(x[i], z[j]);
                        });
  const Tensor y = result;
  return record(op, y, {a, b}, [=] {
    const real *const x = a.data(), *const z = b.data(), *const dy = y.gradient_data();
    if (a.needs_gradient()) {
      const GradientSink sink = a.gradient_sink();
      for_each_pair<repeat>(rows, columns, [=, dx = sink.values](size_t i, size_t j) {
        dx[i] = (sink.add ? dx[i] : 0) + by_a(dy[i], x[i], z[j]);
      });
    }
    if (!b.needs_gradient()) return;
    const auto value = [=](size_t i, size_t j) { return by_b(dy[i], x[i], z[j]); };
    if constexpr (repeat == Repeat::none)
      contribute(b, [=](size_t i) { return value(i, i); });
    else if constexpr (repeat == Repeat::row)
      contribute_summed_rows(b, rows, [=](size_t r, size_t c) { return value(r * columns + c, c); });
    else
      contribute_summed_columns(b, repeat, rows, columns, value);
  });
}

/// The same for operands that meet axis by axis.
template <class Function, class ByA, class ByB>
Tensor binary_by_axes(const char* op, const Tensor& a, const Tensor& b, const Function& function,
                      const ByA& by_a, const ByB& by_b) {
  const Broadcast pairs(op, a.shape(), b.shape());
  Tensor result(pairs.shape);
  for_each_position(pairs, [=, x = a.data(), z = b.data(), y = result.data()](size_t i, size_t j, size_t k) {
    y[i] = function(x[j], z[k]);
  });
  const Tensor y = result;
  return record(op, y, {a, b}, [=] {
    const real *const x = a.data(), *const z = b.data(), *const dy = y.gradient_data();
    contribute_pairs(a, pairs, pairs.a_steps,
                     [=](size_t i, size_t j, size_t k) { return by_a(dy[i], x[j], z[k]); });
    contribute_pairs(b, pairs, pairs.b_steps,
                     [=](size_t i, size_t j, size_t k) { return by_b(dy[i], x[j], z[k]); });
  });
}

template <class Function, class ByA, class ByB>
Tensor binary(const char* op, const Tensor& a, const Tensor& b, const Function& function, const ByA& by_a,
              const ByB& by_b) {
  require_values(op, a, b);
  switch (repetition(a, b)) {
    case Repeat::none:
      return binary_as<Repeat::none>(op, a, b, function, by_a, by_b);
    case Repeat::row:
      return binary_as<Repeat::row>(op, a, b, function, by_a, by_b);
    case Repeat::column:
      return binary_as<Repeat::column>(op, a, b, function, by_a, by_b);
    case Repeat::number:
      return binary_as<Repeat::number>(op, a, b, function, by_a, by_b);
    default:
      return binary_by_axes(op, a, b, function, by_a, by_b);
  }
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) {
  return binary(
      "add", a, b, [](real u, real v) { return u + v; }, [](real dy, real, real) { return dy; },
      [](real dy, real, real) { return dy; });
}

Tensor operator-(const Tensor& a, const Tensor& b) {
  return binary(
      "subtract", a, b, [](real u, real v) { return u - v; }, [](real dy, real, real) { return dy; },
      [](real dy, real, real) { return -dy; });
}

Tensor operator*(const Tensor& a, const Tensor& b) {
  return binary(
      "multiply", a, b, [](real u, real v) { return u * v; }, [](real dy, real, real v) { return dy * v; },
      [](real dy, real u, real) { return dy * u; });
}

namespace {

/// u / v^2, divided by v twice where v^2 overflows or underflows: in float for |v| above 1.8e19 or below 1.1e-19
real over_square(real u, real v) {
  const real square = v * v, once = u / v;
  const bool in_range =
      square >= std::numeric_limits<real>::min() && square <= std::numeric_limits<real>::max();
  return (in_range ? u : once) / (in_range ? square : v);
}

}  // namespace

Tensor operator/(const Tensor& a, const Tensor& b) {
  return binary(
      "divide", a, b, [](real u, real v) { return u / v; }, [](real dy, real, real v) { return dy / v; },
      [](real dy, real u, real v) { return dy * over_square(-u, v); });
}

/// y = a where a > b, else b; dy goes to the larger, half of it to each of two equal ones
Tensor maximum(const Tensor& a, const Tensor& b) {
  return binary(
      "maximum", a, b, [](real u, real v) { return u > v || u != u ? u : v; },
      [](real dy, real u, real v) { return u < v    ? 0
                                           : u == v ? dy / 2
                                                    : dy; },
      [](real dy, real u, real v) { return v < u    ? 0
                                           : u == v ? dy / 2
                                                    : dy; });
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  return binary(
      "minimum", a, b, [](real u, real v) { return u < v || u != u ? u : v; },
      [](real dy, real u, real v) { return u > v    ? 0
                                           : u == v ? dy / 2
                                                    : dy; },
      [](real dy, real u, real v) { return v > u    ? 0
                                           : u == v ? dy / 2
                                                    : dy; });
}

Tensor maximum(const Tensor& a, real b) { return maximum(a, Tensor::full({}, b)); }
Tensor minimum(const Tensor& a, real b) { return minimum(a, Tensor::full({}, b)); }

/// y = a where m != 0, else b;  da = dy where m != 0, else 0;  db = 0 where m != 0, else dy
Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b) {
  require_values("where", mask, a, b);
  const Shape chosen = Broadcast("where", a.shape(), b.shape()).shape;
  const Shape shape = Broadcast("where", mask.shape(), chosen).shape;
  const Tensor m = repeated("where", mask, shape), u = repeated("where", a, shape),
               v = repeated("where", b, shape);
  const Tensor y = generate(shape, [by = m.data(), of_u = u.data(), of_v = v.data()](size_t i) {
    const real taken = of_u[i], other = of_v[i];  // both are read: a vector has no branches
    return by[i] != 0 ? taken : other;
  });
  return record("where", y, {m, u, v}, [=] {
    const real *const by = m.data(), *const dy = y.gradient_data();
    const auto part = [=](size_t i, bool taken) {
      const real each = dy[i];
      return (by[i] != 0) == taken ? each : 0;
    };
    contribute(u, [=](size_t i) { return part(i, true); });
    contribute(v, [=](size_t i) { return part(i, false); });
  });
}

}  // namespace lamina
