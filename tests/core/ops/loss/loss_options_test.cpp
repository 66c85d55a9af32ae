// Cross entropy with options and labels of any type, and the losses of regression. The comparison with
// PyTorch is in tests/torch_training_test.cpp.

#include <cstdint>
#include <list>

#include "core/ops/loss/loss.h"
#include "core/ops/loss/regression_loss.h"
#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

std::vector<int> some_labels(size_t rows, size_t classes) {
  std::vector<int> labels(rows);
  for (size_t r = 0; r < rows; ++r) labels[r] = static_cast<int>((r * 7 + 2) % classes);
  return labels;
}

/// The formula of core/ops/loss/loss.h, from primitive ops.
Tensor composed_cross_entropy(const Tensor& x, const std::vector<int>& labels,
                              const CrossEntropyOptions& options) {
  const size_t rows = x.rows(), columns = x.columns();
  Tensor targets = Tensor::zeros(x.shape());
  real total = 0;
  for (size_t r = 0; r < rows; ++r) {
    if (labels[r] == options.ignored_label) continue;
    const auto weight = [&](size_t c) {
      return options.class_weights.defined() ? options.class_weights[c] : 1;
    };
    const auto label = static_cast<size_t>(labels[r]);
    for (size_t c = 0; c < columns; ++c)
      targets[r * columns + c] = (c == label ? (1 - options.label_smoothing) * weight(c) : 0) +
                                 options.label_smoothing / static_cast<real>(columns) * weight(c);
    total += weight(label);
  }
  return sum(targets * log_softmax(x)) / -total;
}

std::vector<CrossEntropyOptions> all_options(size_t columns) {
  const Tensor weights = sample({columns}, 3, 0.25, 2);
  Tensor one_zero = weights.copy();
  one_zero[0] = 0;
  const real smoothing = real(0.2);
  std::vector<CrossEntropyOptions> all;
  for (const std::optional<int> ignored :
       {std::optional<int>(), std::optional<int>(2), std::optional<int>(-100)})
    for (const Tensor& each : {Tensor(), weights, one_zero})
      for (const real share : {real(0), smoothing})
        all.push_back({.ignored_label = ignored, .class_weights = each, .label_smoothing = share});
  return all;
}

}  // namespace

TEST_CASE("cross_entropy with options: its composed twin, and gradients") {
  for (const Shape& shape : {Shape{1, 1}, Shape{4, 3}, Shape{7, 17}, Shape{5, 33}, Shape{2, 3, 4}, Shape{5}})
    for (const CrossEntropyOptions& options : all_options(shape.columns())) {
      CAPTURE(text(shape));
      CAPTURE(options.ignored_label.value_or(-1));
      CAPTURE(options.label_smoothing);
      const std::vector<int> labels = [&] {
        std::vector<int> chosen = some_labels(shape.rows(), shape.columns());
        if (options.ignored_label == -100 && chosen.size() > 1) chosen[1] = -100;
        return chosen;
      }();
      const bool counts = std::ranges::any_of(labels, [&](int label) {
        return label != options.ignored_label &&
               (!options.class_weights.defined() || options.class_weights[static_cast<size_t>(label)] > 0);
      });
      const Tensor x = sample(shape, 1, -2, 2);
      if (!counts) {
        CHECK(contains(error_of([&] { cross_entropy(x, labels, options); }), "ignored or of weight 0"));
        continue;
      }
      CHECK(difference(cross_entropy(x, labels, options), composed_cross_entropy(x, labels, options)) <
            20 * ulp);
      if (shape.columns() > 1)
        check_gradients({x}, [&] { return cross_entropy(x, labels, options) * real(3); });
      check_gradients({x}, [&] { return cross_entropy(x, labels, options) + weighted(x); });
    }
}

TEST_CASE("cross_entropy with options: without effect they leave the loss as it is") {
  const Tensor x = leaf({5, 4}, 1, -2, 2);
  const std::vector<int> labels = some_labels(5, 4);
  const auto run = [&](const CrossEntropyOptions& options) {
    Tensor at = x.copy().require_gradient();
    Tape tape;
    const Tensor loss = cross_entropy(at, labels, options);
    tape.backward(loss);
    return std::pair(loss, at.gradient());
  };
  const auto [plain, gradient] = run({});
  for (const CrossEntropyOptions& options : {CrossEntropyOptions{.ignored_label = -1},
                                             CrossEntropyOptions{.class_weights = Tensor::full({4}, 3)}}) {
    const auto [loss, derivative] = run(options);
    CHECK(difference(loss, plain) < 4 * ulp);
    CHECK(difference(derivative, gradient) < 4 * ulp);
  }
}

TEST_CASE("cross_entropy with options: ignored rows and classes of weight 0 may hold anything") {
  const real infinity = std::numeric_limits<real>::infinity(), nan = std::numeric_limits<real>::quiet_NaN();
  Tensor x = Tensor::from({3, 2}, {1, 2, nan, nan, 0, 0}).require_gradient();
  {
    Tape tape;
    const Tensor loss = cross_entropy(x, {1, -1, 0}, {.ignored_label = -1});
    CHECK(difference(loss, {(std::log1p(std::exp(-1.0)) + std::log(2.0)) / 2}) < 4 * ulp);
    tape.backward(loss);
  }
  CHECK(x.gradient()[2] == 0);
  CHECK(x.gradient()[3] == 0);
  const Tensor masked = Tensor::from({1, 3}, {0, 0, -infinity}).require_gradient();
  const CrossEntropyOptions options = {.class_weights = Tensor::from({3}, {1, 1, 0}),
                                       .label_smoothing = real(0.5)};
  Tape tape;
  const Tensor loss = cross_entropy(masked, {0}, options);
  CHECK(difference(loss, {std::log(2.0) * (0.5 + 0.5 * 2 / 3)}) < 4 * ulp);
  tape.backward(loss);
  CHECK(masked.gradient()[2] == 0);
}

TEST_CASE("cross_entropy: labels of any integral type, in any range, and as a list") {
  const Tensor x = sample({3, 4}, 1, -2, 2);
  const Tensor expected = cross_entropy(x, std::vector<int>{0, 3, 1});
  const auto check = [&](const auto& labels) { CHECK(identical(cross_entropy(x, labels), expected)); };
  check(std::vector<std::int64_t>{0, 3, 1});
  check(std::vector<std::uint8_t>{0, 3, 1});
  check(std::vector<size_t>{0, 3, 1});
  check(std::vector<short>{0, 3, 1});
  check(std::vector<char>{0, 3, 1});
  check(std::array<unsigned, 3>{0, 3, 1});
  check(std::array<int, 3>{0, 3, 1});
  check(std::list<int>{0, 3, 1});
  const std::int64_t plain[] = {0, 3, 1};
  check(plain);
  check(std::span<const std::int64_t>(plain));
  CHECK(identical(cross_entropy(x, {0, 3, 1}), expected));
  CHECK(
      identical(cross_entropy(x.slice(0, 2), {0, 3}), cross_entropy(x.slice(0, 2), std::vector<int>{0, 3})));
  CHECK(identical(cross_entropy(x.slice(0, 1), {2}), cross_entropy(x.slice(0, 1), std::vector<int>{2})));
  CHECK(identical(cross_entropy(x.slice(0, 2), std::vector<bool>{true, false}),
                  cross_entropy(x.slice(0, 2), {1, 0})));
  CHECK(identical(cross_entropy(x, std::vector<std::int64_t>{0, -100, 1}, {.ignored_label = -100}),
                  cross_entropy(x, {0, -100, 1}, {.ignored_label = -100})));

  CHECK_ERROR(cross_entropy(x, std::vector<std::int64_t>{0, std::int64_t{1} << 32, 1}),
              "cross_entropy: label 4294967296 is outside the classes");
  CHECK_ERROR(cross_entropy(x, std::vector<size_t>{0, static_cast<size_t>(-1), 1}),
              "cross_entropy: label 18446744073709551615 is outside the classes");
  CHECK_ERROR(cross_entropy(x, std::vector<std::uint8_t>{0, 255, 1}),
              "cross_entropy: label 255 is outside the 4 classes");
  CHECK_ERROR(cross_entropy(x, std::vector<signed char>{0, -3, 1}),
              "cross_entropy: label -3 is outside the 4 classes");
}

TEST_CASE("cross_entropy with options: errors") {
  const Tensor x = sample({2, 3}, 1);
  CHECK_ERROR(cross_entropy(x, {0, 1}, {.class_weights = Tensor::ones({2})}),
              "cross_entropy: the class weights are [2]; one a class is needed, [3]");
  CHECK_ERROR(cross_entropy(x, {0, 1}, {.class_weights = Tensor::from({3}, {1, -1, 1})}),
              "cross_entropy: the weight of class 1 is -1; it must be finite and at least 0");
  CHECK_ERROR(cross_entropy(x, {0, 1}, {.label_smoothing = 1}),
              "cross_entropy: label smoothing 1; it must be at least 0 and below 1");
  CHECK_ERROR(cross_entropy(x, {0, 7}, {.ignored_label = -1}),
              "cross_entropy: label 7 is outside the 3 classes");
  CHECK_ERROR(cross_entropy(x, {-1, -1}, {.ignored_label = -1}),
              "cross_entropy: all 2 labels are ignored or of weight 0, and nothing has no mean; leave such a "
              "batch out");
}

TEST_CASE("cross_entropy with options: one and two threads agree") {
  const std::vector<int> labels = some_labels(200, 301);
  const CrossEntropyOptions options = {
      .ignored_label = 5, .class_weights = sample({301}, 2, 0.5, 2), .label_smoothing = real(0.1)};
  const auto run = [&](int count) {
    set_threads(count);
    Tensor x = leaf({200, 301}, 1, -2, 2);
    Tape tape;
    const Tensor loss = cross_entropy(x, labels, options);
    tape.backward(loss);
    return std::pair(loss, x.gradient());
  };
  const auto one = run(1), two = run(2);
  set_threads(0);
  CHECK(identical(one.first, two.first));
  CHECK(identical(one.second, two.second));
}

TEST_CASE("regression losses: known values") {
  const Tensor x = Tensor::from({4}, {1, 2, 3, -4}), t = Tensor::from({4}, {1, 1, 5, 0});
  CHECK(mean_squared_error(x, t).item() == real(21) / 4);
  CHECK(mean_squared_error(x, t).shape() == Shape{});
  CHECK(huber(x, t).item() == (real(0.5) + real(1.5) + real(3.5)) / 4);
  CHECK(huber(x, t, {.delta = 2}).item() == (real(0.5) + 2 + 6) / 4);
}

TEST_CASE("regression losses: composed twins, and gradients of both operands") {
  std::vector<Shape> shapes = odd_shapes;
  shapes.insert(shapes.end(), {Shape{}, Shape{5}, Shape{2, 3, 4}, Shape{50, 301}});
  for (const Shape& shape : shapes) {
    const Tensor x = sample(shape, 1, -2, 2), t = sample(shape, 2, -2, 2);
    CHECK(difference(mean_squared_error(x, t), mean(square(x - t))) < 4 * ulp);
    if (shape.size() > 1000) continue;
    check_gradients({x, t}, [&] { return mean_squared_error(x, t) * real(3) + weighted(x); });
    check_gradients(
        {x, t}, [&] { return huber(x, t, {.delta = real(0.75)}) * real(3) + weighted(t); }, 1e-5);
  }
  const real nan = std::numeric_limits<real>::quiet_NaN();
  CHECK(std::isnan(huber(Tensor::full({1}, nan), Tensor::zeros({1})).item()));
}

TEST_CASE("regression losses: errors") {
  CHECK_ERROR(
      mean_squared_error(Tensor({4, 1}), Tensor({4})),
      "mean_squared_error: predictions [4 x 1] and targets [4] differ; reshape() one of them to the other's "
      "shape");
  CHECK_ERROR(huber(Tensor({0}), Tensor({0})), "huber: [0] has no elements, and so no mean");
  CHECK_ERROR(huber(Tensor({1}), Tensor({1}), {.delta = 0}), "huber: delta is 0; it must be positive");
  CHECK(contains(error_of([] { mean_squared_error(Tensor(), Tensor({1})); }), "mean_squared_error: "));
}
