// Softmax, its logarithm and log_sum_exp over any axis.

#include "core/ops/reduce/softmax_axis.h"

#include "core/ops/loss/loss.h"
#include "core/ops/shape/structure.h"
#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr real infinity = std::numeric_limits<real>::infinity();

using Op = Tensor (*)(const Tensor&, int);

struct Twins {
  const char* name;
  Op fused, composed_twin;
};

const Twins all[] = {
    {"softmax", softmax, composed::softmax},
    {"log_softmax", log_softmax, composed::log_softmax},
    {"log_sum_exp", [](const Tensor& x, int axis) { return log_sum_exp(x, axis); },
     [](const Tensor& x, int axis) { return composed::log_sum_exp(x, axis); }},
    {"log_sum_exp, kept", [](const Tensor& x, int axis) { return log_sum_exp(x, axis, {.keep = true}); },
     [](const Tensor& x, int axis) { return composed::log_sum_exp(x, axis, {.keep = true}); }},
};

const std::vector<Shape> shapes = {{1},       {7},        {5, 1},     {3, 4},      {33, 2},     {2, 67},
                                   {2, 3, 4}, {3, 1, 17}, {2, 70, 3}, {2, 3, 300}, {2, 3, 2, 5}};

}  // namespace

TEST_CASE("softmax over an axis: composed twins, values and gradients") {
  for (const Twins& each : all)
    for (const Shape& shape : shapes)
      for (int axis = -shape.rank(); axis < shape.rank(); ++axis) {
        CAPTURE(text(each.name, " of ", shape, " over ", axis));
        Tensor x = leaf(shape, 1, -4, 4), same = x.copy().require_gradient();
        Tape tape;
        const Tensor y = each.fused(x, axis), twin = each.composed_twin(same, axis);
        CHECK(difference(y, twin) < 16 * ulp);
        tape.backward(weighted(y) + weighted(twin));
        CHECK(difference(x.gradient(), same.gradient()) < 32 * ulp);
      }
}

TEST_CASE("softmax over an axis: gradients") {
  for (const Twins& each : all)
    for (const Shape& shape :
         {Shape{1}, Shape{7}, Shape{3, 5}, Shape{2, 3, 4}, Shape{2, 3, 2, 5}, Shape{3, 1, 17}})
      for (int axis = 0; axis < shape.rank(); ++axis) {
        CAPTURE(text(each.name, " of ", shape, " over ", axis));
        const Tensor x = sample(shape, 1, -2, 2);
        check_gradients({x}, [&] { return weighted(square(each.fused(x, axis))); });
      }
}

TEST_CASE("softmax over an axis: the last one is that of rows, another one that of the transposed matrix") {
  const Tensor x = sample({6, 37}, 1, -3, 3);
  CHECK(identical(softmax(x, 1), softmax(x)));
  CHECK(identical(log_softmax(x, -1), log_softmax(x)));
  CHECK(difference(transpose(softmax(transpose(x), 0)), softmax(x)) < 4 * ulp);
  CHECK(difference(transpose(log_softmax(transpose(x), 0)), log_softmax(x)) < 8 * ulp);
  CHECK(difference(log_sum_exp(transpose(x), 0), log_sum_exp(x, 1)) < 4 * ulp);
}

TEST_CASE("softmax over an axis: nothing overflows") {
  const Tensor huge = Tensor::from({2, 2}, {1e4, -1e4, 1e4, 1e4});
  CHECK(difference(softmax(huge, 0), {0.5, 0, 0.5, 1}) == 0);
  CHECK(difference(log_softmax(huge, 0), {-std::log(2.0), -2e4, -std::log(2.0), 0}) < ulp);
  CHECK(difference(log_sum_exp(huge, 0), {1e4 + std::log(2.0), 1e4}) < ulp);
  CHECK(difference(log_sum_exp(huge, 1), {1e4, 1e4 + std::log(2.0)}) < ulp);
}

TEST_CASE("log_sum_exp: infinite and NaN") {
  const real none = std::numeric_limits<real>::quiet_NaN();
  const std::vector<real> numbers = {-infinity, -infinity, 800, infinity, -infinity, 1, none, 0};
  const Tensor rows = Tensor::from({4, 2}, numbers);
  for (const bool last : {true, false}) {
    Tensor x = (last ? rows : transpose(rows)).copy().require_gradient();
    Tape tape;
    const Tensor y = log_sum_exp(x, last ? 1 : 0);
    CHECK(y[0] == -infinity);
    CHECK(y[1] == infinity);
    CHECK(y[2] == 1);
    CHECK(std::isnan(y[3]));
    tape.backward(y, Tensor::ones({4}));
    const Tensor dx = last ? x.gradient() : transpose(x.gradient());
    CHECK(difference(dx.slice(0, 1), {0, 0}) == 0);
    CHECK(dx[2] == 0);  // of 800, whose exponential is infinite, beside an infinity
    CHECK(difference(dx.slice(2, 3), {0, 1}) == 0);
  }
}

TEST_CASE("softmax over an axis: empty") {
  const Tensor none({2, 0, 3});
  CHECK(softmax(none, 0).shape() == Shape{2, 0, 3});
  CHECK(log_softmax(none, 2).shape() == Shape{2, 0, 3});
  CHECK(log_sum_exp(none, 2).shape() == Shape{2, 0});
  CHECK_ERROR(softmax(none, 1), "softmax: [2 x 0 x 3] has nothing along axis 1");
  CHECK_ERROR(log_softmax(none, 1), "log_softmax: [2 x 0 x 3] has nothing along axis 1");
  CHECK_ERROR(log_sum_exp(none, 1), "log_sum_exp: [2 x 0 x 3] has nothing along axis 1");
  CHECK_ERROR(softmax(none, -4), "softmax: [2 x 0 x 3] has no axis -4");
}

TEST_CASE("softmax over an axis: long axes lose no digits, any number of threads gives the same bits") {
  const Tensor many = Tensor::zeros({100000, 3});
  const Tensor shares = softmax(many, 0), total = log_sum_exp(many, 0);
  for (const real v : shares.values()) CHECK(std::fabs(static_cast<double>(v) * 100000 - 1) < 4 * ulp);
  for (const real v : total.values())
    CHECK(std::fabs(static_cast<double>(v) - std::log(100000.0)) < 16 * ulp);
  for (const Twins& each : all)
    for (int axis = 0; axis < 3; ++axis) {
      const auto run = [&](int count) {
        set_threads(count);
        Tensor x = leaf({70, 31, 65}, 1);
        Tape tape;
        const Tensor y = each.fused(x, axis);
        tape.backward(weighted(y));
        return std::vector{y, x.gradient()};
      };
      const auto single = run(1), twice = run(2);
      CHECK(identical(single[0], twice[0]));
      CHECK(identical(single[1], twice[1]));
    }
  set_threads(0);
}
