// exp, tanh and sigmoid against long double over the whole range of float.

#include "core/math/math.h"

#include <bit>
#include <cfloat>
#include <cstring>

#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// Distance of `value` from `exact` in units of the last place of a float of exact's magnitude.
double error_in_ulp(float value, long double exact) {
  if (std::isnan(exact)) return std::isnan(value) ? 0 : HUGE_VAL;
  if (std::isinf(value) || std::fabs(exact) > FLT_MAX) {
    // Infinity is correct where the exact value rounds to it.
    const bool overflows = std::fabs(exact) >= 0x1.ffffffp127L;
    return std::isinf(value) == overflows ? 0 : HUGE_VAL;
  }
  if (exact == 0) return value == 0 ? 0 : HUGE_VAL;
  int exponent = 0;
  (void)std::frexp(exact, &exponent);
  return static_cast<double>(std::fabs(value - exact) / std::ldexp(1.0L, exponent - FLT_MANT_DIG));
}

struct Function {
  const char* name;
  float (*scalar)(float);
  void (*array)(const float*, float*, size_t);  ///< the same in a loop that is vectorized
  long double (*exact)(long double);
  double bound;  ///< as stated in core/math/math.h
};

template <float (*function)(float)>
void apply(const float* x, float* y, size_t count) {
#pragma omp simd
  for (size_t i = 0; i < count; ++i) y[i] = function(x[i]);
}

template <float (*function)(float)>
[[gnu::noinline]] float single(float x) {
  return function(x);
}

template <float (*function)(float)>
Function make(const char* name, long double (*exact)(long double), double bound) {
  return {name, single<function>, apply<function>, exact, bound};
}

float exp_of_negative(float x) { return scalar::exp_up_to_zero(-std::fabs(x)); }

const Function functions[] = {
    make<scalar::exp>(
        "exp", [](long double x) { return std::exp(x); }, 1.01),
    make<exp_of_negative>(
        "exp_up_to_zero", [](long double x) { return std::exp(-std::fabs(x)); }, 1.01),
    make<scalar::sigmoid>(
        "sigmoid", [](long double x) { return 1 / (1 + std::exp(-x)); }, 2.45),
    make<scalar::tanh>(
        "tanh", [](long double x) { return std::tanh(x); }, 1.2),
};

/// Bit patterns a stride apart, so that all exponents, signs, denormals and NaN are covered.
std::vector<float> patterns(std::uint32_t stride) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += stride)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return values;
}

/// Bitwise equal, with all NaN considered equal.
bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// The error stays within the bound over all `inputs`, and the loop gives the same as the single call.
void check_errors(const Function& f, const std::vector<float>& inputs) {
  std::vector<float> outputs(inputs.size());
  f.array(inputs.data(), outputs.data(), inputs.size());
  double worst = 0;
  float where = 0;
  size_t unlike = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    unlike += !same(f.scalar(inputs[i]), outputs[i]);
    const long double exact = f.exact(static_cast<long double>(inputs[i]));
    if (exact != 0 && std::fabs(exact) < FLT_MIN) {
      // Denormal results may be flushed to zero, but nothing else.
      if (!(std::fabs(outputs[i]) <= FLT_MIN)) worst = HUGE_VAL;
      continue;
    }
    const double error = error_in_ulp(outputs[i], exact);
    if (error > worst) {
      worst = error;
      where = inputs[i];
    }
  }
  CHECK(unlike == 0);
  INFO("worst at ", where);
  CHECK(worst <= f.bound);
}

}  // namespace

TEST_CASE("exp, sigmoid, tanh: errors over all floats are within the stated bounds") {
  (void)threads();  // as before any op: this thread flushes denormal numbers from here on
#if defined(__SANITIZE_ADDRESS__)
  const std::vector<float> inputs = patterns(16411);
#else
  const std::vector<float> inputs = patterns(2053);  // prime: the low bits of the mantissa vary as well
#endif
  for (const Function& f : functions) {
    CAPTURE(std::string(f.name));
    check_errors(f, inputs);
  }
}

TEST_CASE("exp, sigmoid, tanh: errors where networks live") {
  std::vector<float> inputs;
  for (float x = -20; x < 20; x += 0.00037F) inputs.push_back(x);
  for (const Function& f : functions) {
    CAPTURE(std::string(f.name));
    check_errors(f, inputs);
  }
}

TEST_CASE("exp, sigmoid, tanh: special values") {
  (void)threads();
  const float infinity = HUGE_VALF, nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(scalar::exp(infinity) == infinity);
  CHECK(scalar::exp(-infinity) == 0);
  CHECK(scalar::exp(0.0F) == 1);
  CHECK(scalar::exp(-0.0F) == 1);
  CHECK(scalar::exp(1e38F) == infinity);
  CHECK(scalar::exp(-1e38F) == 0);
  CHECK(scalar::exp_up_to_zero(-infinity) == 0);
  CHECK(scalar::exp_up_to_zero(-1e38F) == 0);
  CHECK(scalar::exp_up_to_zero(0.0F) == 1);
  CHECK(std::isnan(scalar::exp_up_to_zero(nan)));
  CHECK(std::isnan(scalar::exp_up_to_zero(-nan)));
  CHECK(scalar::sigmoid(infinity) == 1);
  CHECK(scalar::sigmoid(-infinity) == 0);
  CHECK(scalar::sigmoid(0.0F) == 0.5F);
  CHECK(scalar::tanh(infinity) == 1);
  CHECK(scalar::tanh(-infinity) == -1);
  CHECK(scalar::tanh(0.0F) == 0);
  CHECK(!std::signbit(scalar::tanh(0.0F)));
  CHECK(std::signbit(scalar::tanh(-0.0F)));
  CHECK(std::isnan(scalar::exp(nan)));
  CHECK(std::isnan(scalar::exp(-nan)));
  CHECK(std::isnan(scalar::sigmoid(nan)));
  CHECK(std::isnan(scalar::tanh(nan)));
}

TEST_CASE("exp is monotone, tanh odd and within -1 and 1") {
  size_t falls = 0;
  float before = 0;
  for (float x = -87; x < 88; x += 0.00037F) {
    const float y = scalar::exp(x);
    falls += y < before * (1 - 2.4e-7F);
    before = y;
  }
  CHECK(falls == 0);
  for (float x = 0; x < 12; x += 0.0011F) {
    const float y = scalar::tanh(x);
    CHECK(y == -scalar::tanh(-x));
    CHECK(y <= 1);
    CHECK(y >= 0);
  }
}
