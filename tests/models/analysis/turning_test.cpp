// How updates turn the weight vectors of a layer.

#include "models/analysis/turning.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::analysis;

namespace {

const MnistData& digits() {
  static const MnistData data = synthetic_mnist(1, 100, 1, 1);
  return data;
}

TurningOptions small(Norm norm, OptimizerKind optimizer, double scale) {
  return {.norm = norm,
          .optimizer = optimizer,
          .scale = scale,
          .hidden = 20,
          .batch = 50,
          .steps = 1,
          .window = 1};
}

TurningPoint first_update(Norm norm, OptimizerKind optimizer, double scale) {
  return watch_turning(digits(), small(norm, optimizer, scale)).points.front();
}

}  // namespace

TEST_CASE("turning: weights twice as long turn a quarter as far under SGD, half as far under Adam") {
  for (const Norm norm : {Norm::batch, Norm::layer, Norm::weight})
    for (const OptimizerKind optimizer : optimizers) {
      CAPTURE(std::string(lamina::name_of(norm)));
      const TurningPoint usual = first_update(norm, optimizer, 2), doubled = first_update(norm, optimizer, 4);
      CHECK(doubled.loss == doctest::Approx(usual.loss).epsilon(1e-3));  // the same function
      CHECK(doubled.norm == doctest::Approx(2 * usual.norm).epsilon(1e-5));
      CHECK(doubled.angle ==
            doctest::Approx(usual.angle / (optimizer == OptimizerKind::sgd ? 4 : 2)).epsilon(0.01).scale(0));
    }
}

TEST_CASE("turning: without normalization another length is another function") {
  const TurningPoint usual = first_update(Norm::none, OptimizerKind::sgd, 1),
                     doubled = first_update(Norm::none, OptimizerKind::sgd, 2);
  CHECK(std::fabs(doubled.loss - usual.loss) > 0.01);
  CHECK(doubled.angle > 0.3 * usual.angle);
}

TEST_CASE("turning: points are means over windows") {
  TurningOptions options = small(Norm::layer, OptimizerKind::adam, 1);
  options.steps = 5;
  const auto single = watch_turning(digits(), options).points;
  options.window = 2;
  const auto pairs = watch_turning(digits(), options).points;
  REQUIRE(single.size() == 5);
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[1].step == 4);
  CHECK(pairs[1].norm > single[0].norm);
  CHECK(watch_turning(digits(), options).first.angle == doctest::Approx(single[0].angle));
  CHECK(pairs[1].angle == doctest::Approx((single[2].angle + single[3].angle) / 2));
  CHECK(pairs[1].loss == doctest::Approx((single[2].loss + single[3].loss) / 2));
  CHECK(pairs[2].step == 5);  // the fifth step has no pair, but is the end
  CHECK(pairs[2].loss == doctest::Approx(single[4].loss));
  options.window = 25;
  CHECK(watch_turning(digits(), options).points.at(0).step == 5);
  options.window = 0;
  CHECK_ERROR(watch_turning(digits(), options), "watch_turning: a window of 0 steps; it must be positive");
}

TEST_CASE("turning: the table fits the slope over the scales") {
  std::vector<TurningCurve> curves;
  for (const double scale : {1.0, 2.0}) {
    TurningCurve curve{.options = small(Norm::layer, OptimizerKind::sgd, scale)};
    curve.first = {.step = 1, .loss = 0.7, .norm = scale, .angle = 4 / scale};
    curve.points.push_back({.step = 1, .loss = 0.5, .norm = scale, .angle = 8 / (scale * scale)});
    curves.push_back(curve);
  }
  CHECK(contains(turning_table(curves),
                 "| SGD | layer | -1.00 | -2.00 | 1.00 | 1.00 | 8.000 | 8.000 | 0.500 |"));
}
