// Does the check see a wrong gradient, and name its place?

#include "core/gradient_check.h"

#include "core/ops/map.h"
#include "tests/check.h"

#ifdef LAMINA_DOUBLE

using namespace lamina;
using namespace lamina::test;

TEST_CASE("gradient check: right gradients pass, values are left as they were") {
  const Tensor x = sample({3, 5}, 1), before = x.copy();
  CHECK(check_gradient({x}, [&] { return weighted(exp(x)); }).worst_error < 1e-9);
  CHECK(identical(x, before));
}

TEST_CASE("gradient check: one wrong element out of many is found and named") {
  const Tensor x = sample({3, 5}, 1, 1, 2), other = sample({2}, 2);
  const auto wrong = [&] {
    const Tensor y = square(x.detach());
    return sum(other) + sum(record("wrong", y, {x}, [=] {
             contribute(x, [=](size_t i) { return 2 * x[i] * (i == 7 ? 1 + 1e-5 : 1); });
           }));
  };
  const GradientCheck result = check_gradient({other, x}, wrong);
  CHECK(result.worst_error > 0.9e-5);
  CHECK(result.worst_error < 1.1e-5);
  CHECK(contains(result.where, "input 1 [3 x 5] element 7: tape "));
}

TEST_CASE("gradient check: a NaN is the worst error") {
  const Tensor x = sample({3}, 1, -2, -1);
  CHECK(!std::isfinite(check_gradient({x}, [&] { return sum(log(x)); }).worst_error));
}

#endif
