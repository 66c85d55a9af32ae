// Pooling: values by hand, gradients, composed twins, errors.

#include "core/ops/images/pool2d.h"

#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

struct Case {
  Shape images;
  Pool2dOptions options;
};

const std::vector<Case> cases = {
    {{1, 1, 1, 1}, {.window = 1}},
    {{2, 4, 6, 3}, {.window = 2}},
    {{1, 5, 7, 17}, {.window = 2}},
    {{2, 7, 5, 2}, {.window = 3}},
    {{1, 9, 4, 33}, {.window = 4}},
    {{2, 5, 5, 2}, {.window = 2, .stride = 1}},
    {{1, 7, 8, 3}, {.window = 3, .stride = 2}},
    {{1, 7, 7, 2}, {.window = 1, .stride = 3}},
};

/// Numbers that are at least 0.01 apart, so that no finite difference changes which is the largest.
Tensor distinct(const Shape& shape) {
  Tensor x(shape);
  const auto order = Random(5).permutation(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = (static_cast<real>(order[i]) - static_cast<real>(x.size()) / 2 + real(0.3)) / 100;
  return x;
}

Layer one(Tensor (*function)(const Tensor&, const Pool2dOptions&), const Pool2dOptions& options) {
  return [=](const std::vector<Tensor>& in) { return function(in[0], options); };
}

}  // namespace

TEST_CASE("max_pool2d: a result, not its input, also for a window of 1") {
  Tensor x = Tensor::from({1, 1, 1, 1}, {3});
  x.require_gradient();
  Tape tape;
  const Tensor y = max_pool2d(x, {.window = 1});
  tape.backward(y);
  CHECK(y[0] == 3);
  CHECK(x.gradient()[0] == 1);
}

TEST_CASE("pooling: a 2 x 4 example by hand") {
  const Tensor x = Tensor::from({1, 2, 4, 1}, {1, 5, -3, -4, 2, 0, -1, -2});
  CHECK(difference(max_pool2d(x), {5, -1}) == 0);
  CHECK(difference(average_pool2d(x), {2, -2.5}) == 0);
  CHECK(difference(relu_pool(x, {.relu = true, .window = 2}), {5, 0}) == 0);
  CHECK(difference(max_pool2d(x, {.window = 2, .stride = 1}), {5, 5, -1}) == 0);
}

TEST_CASE("pooling: fused equals composed, and gradients") {
  for (const Case& c : cases) {
    CAPTURE(text(c.images, " window ", c.options.window, " stride ", c.options.stride));
    const Tensor x = distinct(c.images);
    check_twins(one(max_pool2d, c.options), one(composed::max_pool2d, c.options), {x}, twin_tolerance(4));
    check_twins(one(average_pool2d, c.options), one(composed::average_pool2d, c.options), {x},
                twin_tolerance(8));
    check_gradients({x}, [&] { return weighted(max_pool2d(x, c.options)); });
    check_gradients({x}, [&] { return weighted(average_pool2d(x, c.options)); });
    for (const bool rectify : {false, true}) {
      const ReluPool options = {.relu = rectify, .window = c.options.window};
      check_twins([=](const std::vector<Tensor>& in) { return relu_pool(in[0], options); },
                  [=](const std::vector<Tensor>& in) { return composed::relu_pool(in[0], options); }, {x},
                  twin_tolerance(4));
      check_gradients({x}, [&] { return weighted(relu_pool(x, options) + relu_pool(x * 3, options)); });
    }
  }
}

TEST_CASE("max pooling: among equals the first gets the derivative, and NaN wins") {
  Tensor x = Tensor::full({1, 2, 2, 1}, 3);
  x.require_gradient();
  {
    Tape tape;
    tape.backward(sum(max_pool2d(x)));
  }
  CHECK(difference(x.gradient(), {1, 0, 0, 0}) == 0);
  for (size_t place = 0; place < 4; ++place) {
    Tensor y = Tensor::from({1, 2, 2, 1}, {1, 2, 3, 4});
    y[place] = std::numeric_limits<real>::quiet_NaN();
    CHECK(std::isnan(max_pool2d(y)[0]));
    CHECK(std::isnan(relu_pool(y, {.relu = true, .window = 2})[0]));
  }
}

TEST_CASE(
    "max pooling: the derivative of a NaN goes to the last of the window's, also where windows overlap") {
  for (const size_t stride : {size_t{0}, size_t{1}})
    for (const auto function : {max_pool2d, composed::max_pool2d}) {
      Tensor x = Tensor::from({1, 2, 2, 1}, {1, 2, 3, 4});
      x[1] = x[2] = std::numeric_limits<real>::quiet_NaN();
      x.require_gradient();
      Tape tape;
      tape.backward(sum(function(x, {.window = 2, .stride = stride})));
      CHECK(difference(x.gradient(), {0, 0, 1, 0}) == 0);
    }
}

TEST_CASE("average_pool2d: the mean of a large window is as accurate as that of a small one") {
  const Tensor x = Tensor::full({1, 200, 200, 3}, real(0.1));
  CHECK(difference(average_pool2d(x, {.window = 200}), {0.1, 0.1, 0.1}) < 32 * ulp);
}

TEST_CASE("pooling: one and two threads agree") {
  for (const Pool2dOptions& options : {Pool2dOptions{.window = 2}, Pool2dOptions{.window = 3, .stride = 2}})
    for (const auto function : {max_pool2d, average_pool2d})
      check_threads(one(function, options), {sample({6, 28, 28, 32}, 1)}, 0);
}

TEST_CASE("pooling: errors name the shapes") {
  const Tensor x = Tensor::zeros({2, 3, 5, 4});
  CHECK_ERROR(max_pool2d(x, {.window = 4}),
              "max_pool2d: the window 4 x 4 does not fit into images [2 x 3 x 5 x 4]; it must be at least 1 "
              "and at most 3");
  CHECK_ERROR(
      average_pool2d(x, {.window = 0}),
      "average_pool2d: the window 0 x 0 does not fit into images [2 x 3 x 5 x 4]; it must be at least 1 "
      "and at most 3");
  CHECK(contains(error_of([] { max_pool2d(Tensor::zeros({3, 5, 4})); }), "[3 x 5 x 4]"));
}

TEST_CASE("max_pool2d: a window of -infinity passes its derivative to its first place") {
  const real none = -std::numeric_limits<real>::infinity();
  for (const size_t window : {2u, 3u, 4u})
    for (const size_t channels : {1u, 16u, 19u})
      for (const size_t stride : {size_t{0}, size_t{1}}) {
        CAPTURE(window);
        CAPTURE(stride);
        for (const bool fused : {true, false}) {
          Tensor x = Tensor::full({1, window, window, channels}, none).require_gradient();
          Tape tape;
          const Pool2dOptions options{.window = window, .stride = stride};
          tape.backward(max_pool2d(x, options).reshape({1, channels}), Tensor::ones({1, channels}));
          for (size_t i = 0; fused && i < x.size(); ++i) CHECK(x.gradient()[i] == (i < channels ? 1 : 0));
        }
      }
}

TEST_CASE("max_pool2d: the composed twin has the same ties") {
  // y + (z - y) is not z in floating point: 0.1 and 0.3 would give a number that is neither.
  const Tensor values = Tensor::from({5}, {real(0.1), real(0.3), real(-0.7), real(1e-3), real(0.3)});
  Tensor x({3, 12, 12, 5});
  for (size_t i = 0; i < x.size(); ++i) x[i] = values[(i * 7 + i / 13) % 5];
  for (const size_t stride : {size_t{0}, size_t{1}, size_t{2}}) {
    const Pool2dOptions options{.window = 3, .stride = stride};
    const auto run = [&](const auto& pool) {
      Tensor in = x.copy().require_gradient();
      Tape tape;
      const Tensor y = pool(in, options);
      tape.backward(weighted(y));
      return std::vector<Tensor>{y, in.gradient()};
    };
    const auto fused = run([](const auto&... in) { return max_pool2d(in...); });
    const auto twin = run([](const auto&... in) { return composed::max_pool2d(in...); });
    CHECK(identical(fused[0], twin[0]));
    CHECK(difference(fused[1], twin[1]) < 16 * ulp);
  }
}
