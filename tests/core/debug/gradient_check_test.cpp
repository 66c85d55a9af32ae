// Does the check detect a wrong gradient, and name its place?

#include "core/debug/gradient_check.h"

#include "core/ops/map.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// sum(x^2) + offset with a gradient that is wrong by `factor`.
std::function<Tensor()> square_with(const Tensor& x, double factor, double offset) {
  return [=] {
    const Tensor y = square(x.detach());
    return sum(record(
               "wrong", y, {x},
               [=] { contribute(x, [=](size_t i) { return 2 * x[i] * static_cast<real>(factor); }); })) +
           static_cast<real>(offset);
  };
}

}  // namespace

TEST_CASE("gradient check: says how many elements it compared and what it put down to noise") {
  const Tensor x = sample({3, 5}, 1, 1, 2);
  const GradientCheck right = check_gradient({x}, square_with(x, 1, 0), 0.05);
  CHECK(right.compared == 15);
  CHECK(right.worst_error < 1e-3);
  CHECK(right.noise < 1e-2);
  const GradientCheck half = check_gradient({x}, square_with(x, 0.5, 0), 0.05);
  CHECK(half.worst_error > 0.4);
}

TEST_CASE("gradient check: refuses to judge where noise hides every derivative") {
  const Tensor x = sample({3, 5}, 1, 1, 2);
  const double large = sizeof(real) == 4 ? 1e4 : 1e13;
  for (const double factor : {1.0, 0.5}) {
    const std::string error = error_of([&] { check_gradient({x}, square_with(x, factor, large)); });
    CHECK(contains(error, "check_gradient: the rounding of a loss of "));
    CHECK(contains(error,
                   "which hides every derivative; make the loss smaller or h larger, or compute in double"));
  }
}

#ifdef LAMINA_DOUBLE

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

TEST_CASE("gradient check: a tape that is open around it records nothing of it") {
  const Tensor x = sample({3}, 1, 1, 2);
  Tensor w = sample({2}, 2).require_gradient();
  Tape outer;
  const Tensor loss = sum(square(w));
  const size_t before = outer.size();
  CHECK(check_gradient({x}, [&] { return sum(square(x)); }).worst_error < 1e-6);
  CHECK(outer.size() == before);
  outer.backward(loss);
  CHECK(identical(w.gradient(), (w * real(2)).detach()));
}

TEST_CASE("gradient check: a NaN is the worst error") {
  const Tensor x = sample({3}, 1, -2, -1);
  CHECK(!std::isfinite(check_gradient({x}, [&] { return sum(log(x)); }).worst_error));
}

#endif

TEST_CASE("a loss that throws leaves the inputs as they were") {
  const Tensor x = sample({3}, 1), before = x.copy();
  int calls = 0;
  const auto loss = [&] {
    if (++calls == 3) fail("no loss");
    return sum(square(x));
  };
  CHECK_ERROR(check_gradient({x}, loss), "no loss");
  CHECK(calls == 3);
  CHECK(identical(x, before));
}
