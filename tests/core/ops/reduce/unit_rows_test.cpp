// Rows of length 1.

#include "core/ops/reduce/unit_rows.h"

#include <limits>

#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("unit_rows: by hand, a row of zeros included") {
  Tensor x = Tensor::from({2, 2}, {3, -4, 0, 0}).require_gradient();
  Tape tape;
  const Tensor y = unit_rows(x);
  CHECK(difference(y, {0.6, -0.8, 0, 0}) < 1e-6);
  tape.backward(y, Tensor::from({2, 2}, {1, 0, 1, 1}));
  CHECK(difference(x.gradient(), {0.128, 0.096, 0, 0}) < 1e-6);
  CHECK_ERROR(unit_rows(Tensor::full({}, 1)), "unit_rows: a scalar has no rows");
  CHECK(contains(error_of([] { unit_rows(Tensor()); }), "unit_rows: a tensor is an empty handle"));
}

TEST_CASE("unit_rows: a NaN stays in its row") {
  const Tensor y = unit_rows(Tensor::from({2, 2}, {std::numeric_limits<real>::quiet_NaN(), 1, 1, 0}));
  CHECK(std::isnan(y[0]));
  CHECK(std::isnan(y[1]));
  CHECK(y[2] == 1);
}

TEST_CASE("unit_rows: gradients, and the composed twin") {
  for (const Shape& shape : odd_shapes) {
    const Tensor x = sample(shape, 1, 0.2, 1);
    check_gradients({x}, [&] { return weighted(square(unit_rows(x))) + sum(x); });
    check_twins([](const auto& in) { return unit_rows(in[0]); },
                [](const auto& in) { return composed::unit_rows(in[0]); }, {x}, twin_tolerance(16));
  }
  const Tensor large = sample({70, 513}, 2);
  check_threads([](const auto& in) { return unit_rows(in[0]); }, {large}, 0);
}

TEST_CASE("unit_rows: rows whose squares leave the range of real") {
  for (const double scale : {1e37, 1e30, 1e20, 1e-16, 1e-20, 1e-30}) {
    CAPTURE(scale);
    const auto s = static_cast<real>(scale);
    Tensor x = Tensor::from({2, 2}, {3, -4, 0, 0}).require_gradient();
    for (real& value : x.values()) value *= s;
    Tape tape;
    const Tensor y = unit_rows(x);
    CHECK(difference(y, {0.6, -0.8, 0, 0}) < 4 * ulp);
    tape.backward(y, Tensor::from({2, 2}, {s, 0, 1, 1}));
    CHECK(difference(x.gradient(), {0.128, 0.096, 0, 0}) < 4 * ulp);
  }
  // Longer than the largest real: no direction either.
  const Tensor y = unit_rows(Tensor::full({1, 2}, std::numeric_limits<real>::max()));
  CHECK(y[0] == 0);
}
