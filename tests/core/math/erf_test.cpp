// erf and the normal distribution against long double over the whole range of float.

#include "core/math/erf.h"

#include <bit>
#include <cfloat>

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

float erf_of(float x) { return scalar::erf(x); }
float below(float x) { return scalar::normal(x).below; }
float density(float x) { return scalar::normal(x).density; }

struct Function {
  const char* name;
  float (*value)(float);
  long double (*exact)(long double);
  double bound;  ///< in units of the last place, as stated in core/math/erf.h
};

const Function functions[] = {
    {"erf", erf_of, [](long double x) { return std::erf(x); }, 1.3},
    {"below", below, [](long double x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }, 6},
    {"density", density, [](long double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0L)); },
     3},
};

double error_in_ulp(float value, long double exact) {
  int exponent = 0;
  (void)std::frexp(exact, &exponent);
  return static_cast<double>(std::fabs(value - exact) / std::ldexp(1.0L, exponent - FLT_MANT_DIG));
}

void check_errors(const Function& f, const std::vector<float>& inputs) {
  double worst = 0;
  float where = 0;
  for (const float x : inputs) {
    const long double exact = f.exact(static_cast<long double>(x));
    const float value = f.value(x);
    if (std::fabs(exact) < FLT_MIN) {  // may be flushed to zero, but nothing else
      CHECK(std::fabs(value) <= FLT_MIN);
      continue;
    }
    const double error = error_in_ulp(value, exact);
    if (!(error <= worst)) {
      worst = error;
      where = x;
    }
  }
  INFO(std::string(f.name), ", worst at ", where);
  CHECK(worst <= f.bound);
}

}  // namespace

TEST_CASE("erf and the normal distribution: errors are within the stated bounds") {
#if defined(__SANITIZE_ADDRESS__)
  constexpr std::uint32_t stride = 1000003;
#else
  constexpr std::uint32_t stride = 40009;  // prime: the low bits of the mantissa vary as well
#endif
  std::vector<float> inputs;
  for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += stride) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isfinite(x) && std::fabs(x) > 1e-36F) inputs.push_back(x);
  }
  for (float x = -15; x < 15; x += 0.00037F) inputs.push_back(x);
  for (const Function& f : functions) check_errors(f, inputs);
}

TEST_CASE("erf and the normal distribution: special values") {
  const float infinity = HUGE_VALF, nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(scalar::erf(infinity) == 1);
  CHECK(scalar::erf(-infinity) == -1);
  CHECK(scalar::erf(0.0F) == 0);
  CHECK(std::signbit(scalar::erf(-0.0F)));
  CHECK(scalar::erf(0.3F) == -scalar::erf(-0.3F));
  CHECK(std::isnan(scalar::erf(nan)));
  CHECK(below(0) == 0.5F);
  CHECK(below(infinity) == 1);
  CHECK(below(-infinity) == 0);
  CHECK(density(infinity) == 0);
  CHECK(density(-infinity) == 0);
  CHECK(std::isnan(below(nan)));
  CHECK(std::isnan(density(nan)));
}

TEST_CASE("erf: a loop of vectors gives what single calls give") {
  std::vector<float> x(1000), y(1000), below_x(1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.03F * static_cast<float>(i) - 15;
#pragma omp simd
  for (size_t i = 0; i < x.size(); ++i) y[i] = scalar::erf(x[i]);
#pragma omp simd
  for (size_t i = 0; i < x.size(); ++i) below_x[i] = scalar::normal(x[i]).below;
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(y[i] == erf_of(x[i]));
    CHECK(below_x[i] == below(x[i]));
  }
}
