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

}  // namespace lamina
