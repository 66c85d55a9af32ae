#include "core/ops/elementwise.h"

#include <cmath>

#include "core/math/erf.h"
#include "core/math/log1p.h"
#include "core/math/math.h"
#include "core/ops/map.h"

namespace lamina {

// Functions of one variable: y = f(x), dx = dy f'(x), the derivative written with x or y, whichever is
// shorter. The function for dx gets dy as well: dy / x rounds once, dy times 1 / x twice. Where the derivative is 0 because
// x is cut off, dy is left out, not multiplied: of sqrt(relu(x)) it is infinite there.

namespace {

template <class Function, class Gradient>
Tensor unary(const Op& op, const Tensor& x, const Function& function, const Gradient& gradient) {
  require_values(op.name, x);
  const real* const from = x.data();
  const Tensor y = generate(x.shape(), [=](size_t i) { return function(from[i]); });
  return record(op, y, {x}, [x, y, gradient] {
    const real *const in = x.data(), *const out = y.data(), *const dy = y.gradient_data();
    contribute(x, [=](size_t i) { return gradient(dy[i], in[i], out[i]); });
  });
}

/// y and f'(x) together.
struct Rise {
  real value, slope;
};

/// Derivatives of more elements are not kept: to write and read so much memory takes longer than to compute them again.
constexpr size_t most_slopes_kept = size_t{1} << 18;

/// For functions whose derivative takes most of the work that they take: function(x) gives both, and a tape keeps the
/// derivative.
template <class Function>
Tensor unary_with_slope(const Op& op, const Tensor& x, const Function& function) {
  if (x.size() > most_slopes_kept || Tape::recording({&x, 1}) == nullptr)
    return unary(
        op, x, [=](real v) { return function(v).value; },
        [=](real dy, real v, real) { return dy * function(v).slope; });
  const real* const from = x.data();
  Tensor y(x.shape()), slopes(x.shape());
  for_each_index(x.size(), [=, to = y.data(), slope = slopes.data()](size_t i) {
    const Rise rise = function(from[i]);
    to[i] = rise.value;
    slope[i] = rise.slope;
  });
  return record(op, y, {x}, [x, y, slopes] {
    contribute(x, [dy = y.gradient_data(), slope = slopes.data()](size_t i) { return dy[i] * slope[i]; });
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
      {"relu", OpKind::relu}, x, [](real v) { return v < 0 ? 0 : v; },
      [](real dy, real v, real) { return v > 0 ? dy : 0; });
}

Tensor erf(const Tensor& x) {
  return unary(
      "erf", x, [](real v) { return scalar::erf(v); },
      [](real dy, real v, real) { return dy * (real(1.12837916709551257) * scalar::exp(-v * v)); });
}

Tensor pow(const Tensor& x, real power) {
  if (power == 2) return square(x);
  if (power == 3)
    return unary(
        "pow", x, [](real v) { return v * (v * v); },
        [](real dy, real v, real) { return dy * (3 * (v * v)); });
  return unary(
      "pow", x, [power](real v) { return std::pow(v, power); },
      [power](real dy, real v, real) {
        return power == 0 ? real(0) : dy * (power * std::pow(v, power - 1));
      });
}

Tensor clamp(const Tensor& x, real low, real high) {
  if (!(low <= high))
    fail("clamp: from ", low, " to ", high, "; the lower limit must not be above the upper one");
  return unary(
      "clamp", x, [=](real v) { return v < low    ? low
                                       : v > high ? high
                                                  : v; },
      [=](real dy, real v, real) { return v >= low && v <= high ? dy : 0; });
}

Tensor leaky_relu(const Tensor& x, real slope) {
  return unary(
      "leaky_relu", x, [slope](real v) { return v > 0 ? v : v * slope; },
      [slope](real dy, real v, real) { return dy * (v > 0 ? real(1) : slope); });
}

Tensor softplus(const Tensor& x) {
  return unary(
      "softplus", x,
      [](real v) { return (v > 0 ? v : 0) + scalar::log1p_of_share(scalar::exp(-std::fabs(v))); },
      [](real dy, real v, real) { return dy * scalar::sigmoid(v); });
}

// Activations of the form y = v s(v) with a share s that rises from 0 to 1: dx = dy (s + v s'). Where s or s' has
// become 0, v is held at a limit instead of being infinite, since 0 times infinity is NaN.

namespace {

constexpr real flat_from = sizeof(real) == 4 ? 120 : 800;

real above_flat(real v) { return v < -flat_from ? -flat_from : v; }
real within_flat(real v) { return v < -flat_from ? -flat_from : v > flat_from ? flat_from : v; }

/// y = v / (1 + e^-2u), u = sqrt(2/pi) (v + 0.044715 v^3): 1/2 (1 + tanh(u)) without its cancellation
Tensor gelu_by_tanh(const Tensor& x) {
  constexpr real first = real(1.59576912160573071),
                 third = first * real(0.044715);  // 2u = first v + third v^3
  const auto one_over_share = [](real v) { return 1 + scalar::exp(-v * (first + third * (v * v))); };
  return unary(
      "gelu", x, [=](real v) { return above_flat(v) / one_over_share(v); },
      [=](real dy, real v, real) {
        const real s = 1 / one_over_share(v), at = within_flat(v);
        return dy * (s + at * (s * (1 - s)) * (first + 3 * third * (at * at)));
      });
}

}  // namespace

/// y = v / (1 + e^-v), the share being the sigmoid
Tensor silu(const Tensor& x) {
  return unary(
      "silu", x, [](real v) { return above_flat(v) / (1 + scalar::exp(-v)); },
      [](real dy, real v, real) {
        const real s = 1 / (1 + scalar::exp(-v));
        return dy * (s + within_flat(v) * (s * (1 - s)));
      });
}

/// The share is the normal distribution, s' its density.
Tensor gelu(const Tensor& x, const GeluOptions& options) {
  if (options.tanh) return gelu_by_tanh(x);
  return unary_with_slope("gelu", x, [](real v) -> Rise {
    const auto normal = scalar::normal(v);
    return {above_flat(v) * normal.below, normal.below + within_flat(v) * normal.density};
  });
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

Tensor operator/(real a, const Tensor& b) {
  return unary(
      "divide number", b, [a](real v) { return a / v; },
      [](real dy, real v, real y) { return dy * (-y / v); });
}

Tensor operator-(const Tensor& a, real b) { return a + (-b); }
Tensor operator+(real a, const Tensor& b) { return b + a; }
Tensor operator*(real a, const Tensor& b) { return b * a; }
Tensor operator-(const Tensor& a) { return a * real(-1); }

}  // namespace lamina
