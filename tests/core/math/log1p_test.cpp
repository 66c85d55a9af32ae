// log(1 + x) against long double.

#include "core/math/log1p.h"

#include <cfloat>

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("log1p of 0 to 1: the error is within the stated bound") {
  double worst = 0;
  const auto check = [&](float x) {
    const long double exact = std::log1p(static_cast<long double>(x));
    const float value = scalar::log1p_of_share(x);
    int exponent = 0;
    (void)std::frexp(exact, &exponent);
    const auto error =
        static_cast<double>(std::fabs(value - exact) / std::ldexp(1.0L, exponent - FLT_MANT_DIG));
    worst = worst < error ? error : worst;
  };
  for (float x = 1; x > 8 * FLT_MIN; x *= 0.9999F) check(x);
  for (float x = 0; x <= 1; x += 0.0000031F)
    if (x > 0) check(x);
  CHECK(worst < 2);
  CHECK(scalar::log1p_of_share(0.0F) == 0);
  CHECK(std::isnan(scalar::log1p_of_share(std::numeric_limits<float>::quiet_NaN())));
}
