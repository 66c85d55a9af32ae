#include "core/ops/elementwise.h"

#include <cmath>

#include "core/math.h"
#include "core/ops/map.h"

namespace lamina {

// Functions of one variable: y = f(x), dx = dy f'(x), the derivative written with x or y, whichever is
// shorter. The function for dx gets dy as well: dy / x rounds once, dy times 1 / x twice.

namespace {

template <class Function, class Gradient>
Tensor unary(const char* op, const Tensor& x, const Function& function, const Gradient& gradient) {
  require_values(op, x);
  const real* const from = x.data();
  const Tensor y = generate(x.shape(), [=](size_t i) { return function(from[i]); });
  return record(op, y, {x}, [x, y, gradient] {
    const real *const in = x.data(), *const out = y.data(), *const dy = y.gradient_data();
    contribute(x, [=](size_t i) { return gradient(dy[i], in[i], out[i]); });
  });
}

}  // namespace

Tensor exp(const Tensor& x) {
  return unary(
      "exp", x, [](real v) { return scalar::exp(v); }, [](real dy, real, real y) { return dy * y; });
}

Tensor log(const Tensor& x) {
  return unary(
      "log", x, [](real v) { return std::log(v); }, [](real dy, real v, real) { return dy / v; });
}

Tensor sqrt(const Tensor& x) {
  return unary(
      "sqrt", x, [](real v) { return std::sqrt(v); }, [](real dy, real, real y) { return dy / (2 * y); });
}

Tensor square(const Tensor& x) {
  return unary(
      "square", x, [](real v) { return v * v; }, [](real dy, real v, real) { return dy * (2 * v); });
}

Tensor abs(const Tensor& x) {
  return unary(
      "abs", x, [](real v) { return std::fabs(v); },
      [](real dy, real v, real) { return dy * static_cast<real>((v > 0) - (v < 0)); });
}

Tensor tanh(const Tensor& x) {
  return unary(
      "tanh", x, [](real v) { return scalar::tanh(v); },
      [](real dy, real, real y) { return dy * (1 - y * y); });
}

Tensor sigmoid(const Tensor& x) {
  return unary(
      "sigmoid", x, [](real v) { return scalar::sigmoid(v); },
      [](real dy, real, real y) { return dy * (y * (1 - y)); });
}

Tensor relu(const Tensor& x) {
  return unary(
      "relu", x, [](real v) { return v < 0 ? 0 : v; },
      [](real dy, real v, real) { return dy * (v > 0 ? real(1) : real(0)); });
}

Tensor operator+(const Tensor& a, real b) {
  return unary(
      "add number", a, [b](real v) { return v + b; }, [](real dy, real, real) { return dy; });
}

Tensor operator*(const Tensor& a, real b) {
  return unary(
      "scale", a, [b](real v) { return v * b; }, [b](real dy, real, real) { return dy * b; });
}

Tensor operator/(const Tensor& a, real b) {
  return unary(
      "divide by number", a, [b](real v) { return v / b; }, [b](real dy, real, real) { return dy / b; });
}

Tensor operator-(real a, const Tensor& b) {
  return unary(
      "subtract from number", b, [a](real v) { return a - v; }, [](real dy, real, real) { return -dy; });
}

Tensor operator-(const Tensor& a, real b) { return a + (-b); }
Tensor operator+(real a, const Tensor& b) { return b + a; }
Tensor operator*(real a, const Tensor& b) { return b * a; }
Tensor operator-(const Tensor& a) { return a * real(-1); }

// Functions of two variables. The second operand is read through a Repeat, which maps the position in a to
// the position in b; its gradient is the sum over all positions that read the same element.

namespace {

enum class Repeat { none, row, column, number };

Repeat repetition(const char* op, const Tensor& a, const Tensor& b) {
  if (a.shape() == b.shape()) return Repeat::none;
  if (b.size() == 1) return Repeat::number;
  if (b.shape().rank() == 1 && b.columns() == a.columns()) return Repeat::row;
  if (b.columns() == 1 && b.rows() == a.rows()) return Repeat::column;
  fail(op, ": ", a.shape(), " and ", b.shape(), ": the second must have the first's shape, or be a row [",
       a.columns(), "], a column [", a.rows(), " x 1] or one number");
}

/// element(i, j) for each element i of a and the element j of b that it meets.
template <Repeat repeat, class Element>
void for_each_pair(size_t rows, size_t columns, const Element& element) {
  if constexpr (repeat == Repeat::none) {
    for_each_index(rows * columns, [=](size_t i) { element(i, i); });
  } else if constexpr (repeat == Repeat::number) {
    for_each_index(rows * columns, [=](size_t i) { element(i, size_t{0}); });
  } else {
    parallel_for(rows, elementwise_grain / (columns + 1) + 1, [&](size_t begin, size_t end) {
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

template <class Function, class ByA, class ByB>
Tensor binary(const char* op, const Tensor& a, const Tensor& b, const Function& function, const ByA& by_a,
              const ByB& by_b) {
  require_values(op, a, b);
  switch (repetition(op, a, b)) {
    case Repeat::none:
      return binary_as<Repeat::none>(op, a, b, function, by_a, by_b);
    case Repeat::row:
      return binary_as<Repeat::row>(op, a, b, function, by_a, by_b);
    case Repeat::column:
      return binary_as<Repeat::column>(op, a, b, function, by_a, by_b);
    default:
      return binary_as<Repeat::number>(op, a, b, function, by_a, by_b);
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

Tensor operator/(const Tensor& a, const Tensor& b) {
  return binary(
      "divide", a, b, [](real u, real v) { return u / v; }, [](real dy, real, real v) { return dy / v; },
      [](real dy, real u, real v) { return dy * (-u / (v * v)); });
}

}  // namespace lamina
