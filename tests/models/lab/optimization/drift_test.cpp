// What the shift lab measures, where the answer is known.

#include "models/lab/optimization/drift.h"

#include <numbers>

#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

namespace {

Tensor normal(const Shape& shape, std::uint64_t seed) {
  Tensor x(shape);
  Random(seed).fill_normal(x.data(), x.size(), 0, 1);
  return x;
}

constexpr double tolerance = 1e-4;  // of float, whose differences these are

}  // namespace

TEST_CASE("drift: what every unit of a case gets alike is layer norm's to remove") {
  const Tensor a = normal({200, 50}, 1), of_case = normal({200, 1}, 2);
  const CommonChange moved = common_change(a, a + of_case);
  CHECK(moved.over_units == doctest::Approx(1).epsilon(tolerance));
  CHECK(moved.correlation == doctest::Approx(1).epsilon(tolerance));
  CHECK(moved.over_cases < 0.1);
  const CommonChange scaled = common_change(a, a * of_case);
  CHECK(scaled.over_units == doctest::Approx(1).epsilon(tolerance));
}

TEST_CASE("drift: what a unit gets alike in every case is batch norm's to remove") {
  const Tensor a = normal({200, 50}, 1), of_unit = normal({50}, 2);
  CHECK(common_change(a, a + of_unit).over_cases == doctest::Approx(1).epsilon(tolerance));
  CHECK(common_change(a, a + of_unit).over_units < 0.2);
  CHECK(common_change(a, a * of_unit).over_cases == doctest::Approx(1).epsilon(tolerance));
}

TEST_CASE("drift: independent changes have the share of two directions, and the correlation of chance") {
  const Tensor a = normal({400, 40}, 1);
  const CommonChange change = common_change(a, a + normal({400, 40}, 2));
  CHECK(change.over_units == doctest::Approx(2.0 / 40).epsilon(0.1).scale(0));
  CHECK(change.over_cases == doctest::Approx(2.0 / 400).epsilon(0.2).scale(0));
  CHECK(change.correlation == doctest::Approx(std::sqrt(2 / (std::numbers::pi * 400))).epsilon(0.1).scale(0));
}

TEST_CASE("drift: in a linear network a change of rank one changes all units of the next layer alike") {
  const Tensor x = normal({30, 5}, 1), first = normal({5, 8}, 2), second = normal({8, 6}, 3);
  const Tensor changed = first + matmul(normal({5, 1}, 4), normal({1, 8}, 5));
  const auto summed_inputs = [&](const Tensor& weight) { return matmul(matmul(x, weight), second); };
  CHECK(common_change(summed_inputs(first), summed_inputs(changed)).correlation ==
        doctest::Approx(1).epsilon(tolerance));
}

TEST_CASE("drift: means in deviations, deviations in logarithms; equal distributions do not drift") {
  const Tensor a =
      Tensor::from({2, 2}, {1, 5, 3, 5});  // mean 2, deviation 1; and a constant unit, which does not count
  const Drift drift = drift_between(a, a * real(2) + real(3));  // mean 7, deviation 2
  CHECK(drift.mean == doctest::Approx(5));
  CHECK(drift.deviation == doctest::Approx(std::log(2.0)));
  CHECK(drift_between(a, a).mean == 0);
  CHECK(drift_between(a, a).deviation == 0);
}

TEST_CASE("drift: the same gradient, the opposite one, and one at a right angle") {
  const Tensor g = Tensor::from({2}, {3, 4});
  CHECK(gradient_shift(g, g).distance == 0);
  CHECK(gradient_shift(g, g).cosine == doctest::Approx(1));
  CHECK(gradient_shift(g, -g).distance == doctest::Approx(2));
  CHECK(gradient_shift(g, -g).cosine == doctest::Approx(-1));
  const GradientShift turned = gradient_shift(g, Tensor::from({2}, {4, -3}));
  CHECK(turned.distance == doctest::Approx(std::sqrt(2.0)));
  CHECK(turned.cosine == doctest::Approx(0));
}

TEST_CASE("drift: rank correlation looks at the order alone") {
  CHECK(rank_correlation({1, 2, 3, 4}, {1, 10, 100, 1000}) == doctest::Approx(1));
  CHECK(rank_correlation({1, 2, 3, 4}, {9, 8, 7, 0}) == doctest::Approx(-1));
  CHECK(rank_correlation({1, 2, 3, 4}, {1, 3, 2, 4}) == doctest::Approx(0.8));  // 1 - 6 * 2 / (4 * 15)
}

TEST_CASE("drift: what cannot be compared is refused") {
  const Tensor a = normal({4, 3}, 1);
  CHECK_ERROR(common_change(a, a), "common_change: nothing changes; change the weights below");
  CHECK_ERROR(common_change(a, normal({4, 2}, 1)),
              "common_change: [4 x 3] and [4 x 2]; both must be the same [cases x units]");
  CHECK_ERROR(drift_between(Tensor::ones({4, 3}), a),
              "drift_between: every unit is constant; take cases that differ");
  CHECK_ERROR(gradient_shift(a, normal({3, 4}, 1)),
              "gradient_shift: [4 x 3] and [3 x 4]; they must be the same");
}
