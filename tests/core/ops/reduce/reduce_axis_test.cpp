// Sums, means, variances and extremes over one axis.

#include "core/ops/reduce/reduce_axis.h"

#include "core/ops/elementwise.h"
#include "core/ops/reduce/axis.h"
#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

using Reduce = Tensor (*)(const Tensor&, int, const AxisOptions&);

struct Named {
  const char* name;
  Reduce reduce;
  long double (*exact)(const std::vector<long double>&);
};

long double total_of(const std::vector<long double>& v) {
  long double total = 0;
  for (const long double each : v) total += each;
  return total;
}
long double mean_of(const std::vector<long double>& v) {
  return total_of(v) / static_cast<long double>(v.size());
}
long double variance_of(const std::vector<long double>& v) {
  std::vector<long double> squares;
  for (const long double each : v) squares.push_back((each - mean_of(v)) * (each - mean_of(v)));
  return mean_of(squares);
}

const Named all[] = {
    {"sum", sum, total_of},
    {"mean", mean, mean_of},
    {"variance", variance, variance_of},
    {"max", max, [](const std::vector<long double>& v) { return *std::ranges::max_element(v); }},
    {"min", min, [](const std::vector<long double>& v) { return *std::ranges::min_element(v); }}};

/// Every position of an axis, with sizes around those of vectors and blocks.
const std::vector<Shape> shapes = {{1},       {7},          {5, 1},      {3, 4},     {33, 2},
                                   {2, 67},   {2, 3, 4},    {3, 1, 17},  {2, 70, 3}, {2, 3, 300},
                                   {1, 1, 1}, {4, 2, 3, 5}, {2, 9, 1, 3}};

/// The numbers that are reduced to element j of a result over the axis.
std::vector<long double> gathered(const Tensor& x, const AxisView& view, size_t j) {
  std::vector<long double> found;
  for (size_t k = 0; k < view.along; ++k)
    found.push_back(x[(j / view.inner * view.along + k) * view.inner + j % view.inner]);
  return found;
}

}  // namespace

TEST_CASE("reductions over an axis: values, with the axis dropped and kept") {
  for (const Named& each : all)
    for (const Shape& shape : shapes)
      for (int axis = -shape.rank(); axis < shape.rank(); ++axis) {
        CAPTURE(text(each.name, " of ", shape, " over ", axis));
        const Tensor x = sample(shape, 1, -1, 2);
        const AxisView view("test", shape, axis);
        const Tensor y = each.reduce(x, axis, {}), kept = each.reduce(x, axis, {.keep = true});
        CHECK(y.shape().rank() == shape.rank() - 1);
        CHECK(kept.shape() == shape.with(axis, 1));
        CHECK(identical(kept.reshape(y.shape()), y));
        REQUIRE(y.size() == view.outer * view.inner);
        for (size_t j = 0; j < y.size(); ++j) {
          const auto exact = static_cast<double>(each.exact(gathered(x, view, j)));
          CHECK(std::fabs(y[j] - exact) <= 8 * ulp * std::max(1.0, std::fabs(exact)));
        }
      }
}

TEST_CASE("reductions over an axis: shapes of results") {
  const Tensor x = sample({2, 3, 4}, 1);
  CHECK(sum(x, 0).shape() == Shape{3, 4});
  CHECK(sum(x, 1).shape() == Shape{2, 4});
  CHECK(sum(x, -1).shape() == Shape{2, 3});
  CHECK(sum(x, 2, {.keep = true}).shape() == Shape{2, 3, 1});
  CHECK(sum(sample({5}, 1), 0).shape() == Shape{});
  CHECK(identical(sum(x, -1, {.keep = true}), sum_columns(x)));
  CHECK(identical(sum(x.reshape({6, 4}), 0), sum_rows(x)));
}

TEST_CASE("reductions over an axis: gradients") {
  for (const Named& each : all)
    for (const Shape& shape :
         {Shape{1}, Shape{7}, Shape{3, 5}, Shape{2, 3, 4}, Shape{2, 3, 2, 5}, Shape{3, 1, 17}})
      for (int axis = 0; axis < shape.rank(); ++axis) {
        CAPTURE(text(each.name, " of ", shape, " over ", axis));
        // Whole numbers in a random order plus small offsets: no two are closer than the steps of the
        // difference quotient.
        Tensor x = sample(shape, 1, -0.1, 0.1);
        for (size_t i = 0; i < x.size(); ++i) x[i] += static_cast<real>(i * 7 % 23) / 4;
        for (const bool keep : {false, true})
          check_gradients({x}, [&] { return weighted(square(each.reduce(x, axis, {.keep = keep}))); });
      }
}

TEST_CASE("variance over an axis: the composed twin, and numbers far from zero") {
  for (const Shape& shape : shapes)
    for (int axis = 0; axis < shape.rank(); ++axis) {
      Tensor x = leaf(shape, 3), same = x.copy().require_gradient();
      Tape tape;
      const Tensor y = variance(x, axis), twin = composed::variance(same, axis);
      CHECK(difference(y, twin) < 8 * ulp);
      tape.backward(weighted(y) + weighted(twin));
      CHECK(difference(x.gradient(), same.gradient()) < 16 * ulp);
    }
  // Deviations of 1 around a mean of 4096 / 3, which is rounded.
  for (const Shape& shape : {Shape{3000, 2}, Shape{1, 6000}}) {
    Tensor x(shape);
    const int axis = shape[0] == 1 ? 1 : 0;
    for (size_t i = 0; i < x.size(); ++i) x[i] = (i / (axis == 0 ? 2 : 1)) % 3 == 0 ? 1366 : 1365;
    const Tensor y = variance(x, axis);
    for (const real v : y.values()) CHECK(std::fabs(static_cast<double>(v) - 2.0 / 9) < 4 * ulp);
  }
  CHECK(identical(variance(Tensor::full({7, 3}, real(0.1)), 0), Tensor::zeros({3})));
}

TEST_CASE("max, min and argmax: ties, infinities and NaN") {
  const real infinity = std::numeric_limits<real>::infinity(), none = std::numeric_limits<real>::quiet_NaN();
  const std::vector<real> numbers = {1,        3,        3,    2, -infinity, -infinity, -infinity, -infinity,
                                     infinity, infinity, 1,    0, 5,         none,      7,         none,
                                     none,     1,        none, 2, -0.0,      0,         -0.0,      0};
  const std::vector<int> expected = {1, 0, 0, 1, 0, 0};
  const Tensor rows = Tensor::from({6, 4}, numbers), columns = transpose(rows);
  CHECK(argmax(rows, -1) == expected);
  CHECK(argmax(columns, 0) == expected);
  for (const bool last : {true, false}) {
    Tensor x = (last ? rows : columns).copy().require_gradient();
    const int axis = last ? 1 : 0;
    const Tensor smallest = min(x, axis);
    CHECK(smallest[0] == 1);
    CHECK(smallest[1] == -infinity);
    CHECK(std::isnan(smallest[3]));
    Tape tape;
    const Tensor largest = max(x, axis);
    CHECK(largest[1] == -infinity);
    CHECK(largest[2] == infinity);
    CHECK(std::isnan(largest[3]));
    tape.backward(largest, Tensor::from({6}, {1, 2, 3, 4, 5, 6}));
    const Tensor dx = last ? x.gradient() : transpose(x.gradient());
    for (size_t r = 0; r < 6; ++r)
      for (size_t k = 0; k < 4; ++k)
        CHECK(dx[r * 4 + k] == static_cast<real>(static_cast<int>(k) == expected[r] ? r + 1 : 0));
  }
}

TEST_CASE("max and min: a number with a fraction is no axis") {
  const auto reduces = [](auto axis) {
    return requires(const Tensor& x) { max(x, axis), min(x, axis); };
  };
  static_assert(reduces(0) && !reduces(0.5) && !reduces(real(0)));
}

TEST_CASE("max over an axis: gradients add up") {
  Tensor x = leaf({4, 5}, 1);
  Tape tape;
  tape.backward(sum(max(x, 0)) + sum(x));
  CHECK(sum(x.gradient()).item() == 25);
}

TEST_CASE("reductions over an axis: empty axes and empty results") {
  const Tensor none({2, 0, 3});
  CHECK(identical(sum(none, 1), Tensor::zeros({2, 3})));
  CHECK(sum(none, 0).shape() == Shape{0, 3});
  CHECK(max(none, 0).shape() == Shape{0, 3});
  CHECK(argmax(none, 2).empty());
  CHECK_ERROR(mean(none, 1), "mean: [2 x 0 x 3] has nothing along axis 1");
  CHECK_ERROR(variance(none, 1), "variance: [2 x 0 x 3] has nothing along axis 1");
  CHECK_ERROR(max(none, -2), "max: [2 x 0 x 3] has nothing along axis -2");
  CHECK_ERROR(min(none, 1), "min: [2 x 0 x 3] has nothing along axis 1");
  CHECK_ERROR(argmax(none, 1), "argmax: [2 x 0 x 3] has nothing along axis 1");
  CHECK_ERROR(sum(none, 3), "sum: [2 x 0 x 3] has no axis 3");
  CHECK_ERROR(mean(Tensor::zeros({}), 0), "mean: [scalar] has no axis 0");
  CHECK(contains(error_of([] { max(Tensor(), 0); }), "max: a tensor is an empty handle"));
  const std::string countless =
      ": [2147483648 x 0] has more than 2147483647 elements along axis 0, which an int cannot count; reduce "
      "it in parts";
  const Tensor wide({size_t{1} << 31, 0});
  CHECK_ERROR(max(wide, 0), "max" + countless);
  CHECK_ERROR(min(wide, 0), "min" + countless);
  CHECK_ERROR(argmax(wide, 0), "argmax" + countless);
  Tensor wanted = Tensor({0, 3}).require_gradient();
  Tape tape;
  tape.backward(sum(sum(wanted, 0)));
  CHECK(wanted.gradient().size() == 0);
}

TEST_CASE("reductions over an axis: long sums lose no digits, any number of threads gives the same bits") {
  const Tensor many = Tensor::full({200000, 3}, real(0.1)), row = Tensor::full({3, 200000}, real(0.1));
  for (const Tensor& total : {sum(many, 0), sum(row, 1)})
    for (const real v : total.values()) CHECK(std::fabs(static_cast<double>(v) / 20000 - 1) < 20 * ulp);
  for (const Named& each : all)
    for (int axis = 0; axis < 3; ++axis) {
      const auto run = [&](int count) {
        set_threads(count);
        Tensor x = leaf({70, 31, 65}, 1);
        Tape tape;
        const Tensor y = each.reduce(x, axis, {});
        tape.backward(weighted(y));
        return std::vector{y, x.gradient()};
      };
      const auto single = run(1), twice = run(2);
      CHECK(identical(single[0], twice[0]));
      CHECK(identical(single[1], twice[1]));
    }
  set_threads(0);
}
