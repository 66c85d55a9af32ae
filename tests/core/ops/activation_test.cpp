// Powers, limits and activations: values, gradients, and edge cases.

#include "core/ops/elementwise.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr real infinity = std::numeric_limits<real>::infinity();
constexpr real not_a_number = std::numeric_limits<real>::quiet_NaN();

long double normal_below(long double x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }

struct Function {
  const char* name;
  Tensor (*apply)(const Tensor&);
  long double (*exact)(long double);
  double low, high;  ///< where to check it
  double bound = 8;  ///< of the relative error of values, in units of the last place
};

const Function functions[] = {
    {"number over", [](const Tensor& x) { return 3 / x; }, [](long double x) { return 3 / x; }, 0.5, 3},
    {"pow", [](const Tensor& x) { return pow(x, real(2.5)); },
     [](long double x) { return std::pow(x, 2.5L); }, 0.3, 3},
    {"square", [](const Tensor& x) { return pow(x, 2); }, [](long double x) { return x * x; }, -3, 3},
    {"cube", [](const Tensor& x) { return pow(x, 3); }, [](long double x) { return x * x * x; }, -3, 3},
    {"inverse square", [](const Tensor& x) { return pow(x, -2); }, [](long double x) { return 1 / (x * x); },
     0.5, 3},
    {"power 1", [](const Tensor& x) { return pow(x, 1); }, [](long double x) { return x; }, -3, 3},
    {"power 0", [](const Tensor& x) { return pow(x, 0); }, [](long double) { return 1.0L; }, -3, 3},
    {"clamp, inside", [](const Tensor& x) { return clamp(x, -1, 1); }, [](long double x) { return x; }, -0.9,
     0.9},
    {"clamp, above", [](const Tensor& x) { return clamp(x, -1, 1); }, [](long double) { return 1.0L; }, 1.1,
     2},
    {"clamp, below", [](const Tensor& x) { return clamp(x, -1, infinity); },
     [](long double) { return -1.0L; }, -3, -1.1},
    {"erf", erf, [](long double x) { return std::erf(x); }, -3, 3},
    {"gelu", [](const Tensor& x) { return gelu(x); }, [](long double x) { return x * normal_below(x); }, -9,
     6},
    {"gelu by tanh", [](const Tensor& x) { return gelu(x, {.tanh = true}); },
     [](long double x) {
       return x / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x)));
     },
     -3, 6},
    {"silu", silu, [](long double x) { return x / (1 + std::exp(-x)); }, -9, 9},
    {"softplus", softplus, [](long double x) { return std::log1p(std::exp(x)); }, -9, 9},
    {"leaky_relu above 0", [](const Tensor& x) { return leaky_relu(x); }, [](long double x) { return x; },
     0.1, 3},
    {"leaky_relu below 0", [](const Tensor& x) { return leaky_relu(x, real(0.25)); },
     [](long double x) { return x / 4; }, -3, -0.1},
};

real value_at(const Function& f, real x) { return f.apply(Tensor::full({}, x)).item(); }

template <class Op>
real derivative_at(real at, const Op& op) {
  Tensor x = Tensor::full({}, at).require_gradient();
  Tape tape;
  tape.backward(op(x));
  return x.gradient().item();
}

}  // namespace

TEST_CASE("activations: values and gradients") {
  for (const Function& f : functions)
    for (const Shape& shape : odd_shapes) {
      CAPTURE(std::string(f.name));
      const Tensor x = sample(shape, 1, f.low, f.high), y = f.apply(x);
      for (size_t i = 0; i < x.size(); ++i) {
        const long double exact = f.exact(static_cast<long double>(x[i]));
        CHECK(std::fabs(y[i] - exact) <= f.bound * ulp * std::fabs(exact));
      }
      check_gradients({x}, [&] { return weighted(f.apply(x)); });
    }
}

TEST_CASE("activations: NaN stays NaN, and what they are at infinity") {
  for (const Function& f : functions)
    if (std::string(f.name) != "power 0")
      CHECK_MESSAGE(std::isnan(value_at(f, not_a_number)), std::string(f.name));
  const Tensor ends = Tensor::from({2}, {-infinity, infinity});
  const auto check = [&](const Tensor& y, real low, real high) {
    CHECK(y[0] == low);
    CHECK(y[1] == high);
  };
  check(erf(ends), -1, 1);
  check(gelu(ends), 0, infinity);
  check(gelu(ends, {.tanh = true}), 0, infinity);
  check(silu(ends), 0, infinity);
  check(softplus(ends), 0, infinity);
  check(leaky_relu(ends), -infinity, infinity);
  check(clamp(ends, -2, 3), -2, 3);
  check(pow(ends, -1), 0, 0);
  check(pow(ends, 0), 1, 1);
  check(1 / ends, 0, 0);
  CHECK(softplus(Tensor::full({}, 1000)).item() == 1000);
  CHECK(std::isnan(pow(Tensor::full({}, -2), real(0.5)).item()));
}

TEST_CASE("activations: derivatives far out and at kinks") {
  for (const real far : {real(200), infinity}) {
    using Of = const Tensor&;
    CHECK(derivative_at(far, [](Of x) { return gelu(x); }) == 1);
    CHECK(derivative_at(-far, [](Of x) { return gelu(x); }) == 0);
    CHECK(derivative_at(far, [](Of x) { return gelu(x, {.tanh = true}); }) == 1);
    CHECK(derivative_at(-far, [](Of x) { return gelu(x, {.tanh = true}); }) == 0);
    CHECK(derivative_at(far, silu) == 1);
    CHECK(std::fabs(derivative_at(-far, silu)) < 1e-80);
    CHECK(derivative_at(far, softplus) == 1);
    CHECK(derivative_at(far, [](Of x) { return erf(x); }) == 0);
  }
  CHECK(derivative_at(0, [](const Tensor& x) { return leaky_relu(x, real(0.25)); }) == real(0.25));
  CHECK(derivative_at(1, [](const Tensor& x) { return clamp(x, -1, 1); }) == 1);
  CHECK(derivative_at(-1, [](const Tensor& x) { return clamp(x, -1, 1); }) == 1);
  CHECK(derivative_at(0, [](const Tensor& x) { return pow(x, 0); }) == 0);
  CHECK(derivative_at(0, [](const Tensor& x) { return pow(x, 1); }) == 1);
  CHECK(derivative_at(0, [](const Tensor& x) { return pow(x, real(0.5)); }) == infinity);
}

TEST_CASE("activations: empty tensors, and errors") {
  for (const Function& f : functions) {
    CHECK(f.apply(Tensor({0, 3})).shape() == Shape{0, 3});
    CHECK(contains(error_of([&] { f.apply(Tensor()); }), "empty handle"));
  }
  CHECK_ERROR(clamp(Tensor({2}), 1, -1),
              "clamp: from 1 to -1; the lower limit must not be above the upper one");
  CHECK_ERROR(clamp(Tensor({2}), not_a_number, 1),
              "clamp: from nan to 1; the lower limit must not be above the upper one");
}
