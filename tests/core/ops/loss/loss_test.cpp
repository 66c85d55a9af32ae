// Softmax and the losses of classification.

#include "core/ops/loss/loss.h"

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

}  // namespace

TEST_CASE("softmax and log_softmax: known values") {
  // e^x = 1, 2, 5 in the first row; in the second the same, far from zero.
  const double l2 = std::log(2.0), l5 = std::log(5.0);
  const auto at = [](double v) { return static_cast<real>(v); };
  const Tensor x = Tensor::from({2, 3}, {0, at(l2), at(l5), at(-l5), at(l2 - l5), 0});
  CHECK(difference(softmax(x), {0.125, 0.25, 0.625, 0.125, 0.25, 0.625}) < 4 * ulp);
  const double l8 = std::log(8.0);
  CHECK(difference(log_softmax(x), {-l8, l2 - l8, l5 - l8, -l8, l2 - l8, l5 - l8}) < 4 * ulp);
}

TEST_CASE("softmax and log_softmax: nothing overflows, shifts do not matter") {
  const Tensor huge = Tensor::from({2, 2}, {1e4, 1e4, -1e4, 1e4});
  CHECK(difference(softmax(huge), {0.5, 0.5, 0, 1}) == 0);
  CHECK(difference(log_softmax(huge), {-std::log(2.0), -std::log(2.0), -2e4, 0}) < ulp);
  CHECK(std::isnan(softmax(Tensor::from({2}, {0, std::numeric_limits<real>::quiet_NaN()}))[0]));
}

namespace {

/// The largest error of log_softmax and of cross_entropy in units of the last place of 1 or of the result,
/// for rows of `columns` normal numbers times `spread` around `offset`.
double worst_error(size_t columns, double offset, double spread) {
  constexpr size_t rows = 20;
  Tensor x({rows, columns});
  Random(7).fill_normal(x.data(), x.size(), static_cast<real>(offset), static_cast<real>(spread));
  const Tensor y = log_softmax(x);
  double worst = 0;
  const auto add = [&](real found, long double exact) {
    const auto error = static_cast<double>(std::fabs(static_cast<long double>(found) - exact));
    worst = std::max(worst, error / std::max(1.0, static_cast<double>(std::fabs(exact))) / ulp);
  };
  for (size_t r = 0; r < rows; ++r) {
    const auto at = [&](size_t c) { return static_cast<long double>(x[r * columns + c]); };
    long double most = at(0), total = 0;
    for (size_t c = 0; c < columns; ++c) most = std::max(most, at(c));
    for (size_t c = 0; c < columns; ++c) total += std::exp(at(c) - most);
    for (size_t c = 0; c < columns; ++c) add(y[r * columns + c], at(c) - most - std::log(total));
    const int label = static_cast<int>(r % columns);
    add(cross_entropy(x.slice(r, r + 1), {label}).item(),
        std::log(total) - (at(static_cast<size_t>(label)) - most));
  }
  return worst;
}

}  // namespace

TEST_CASE("log_softmax and cross_entropy: a few units of the last place, however far from zero") {
  for (const double offset : {0.0, 100.0, 1e4, -1e4, 1e6})
    for (const double spread : {0.1, 1.0, 10.0})
      for (const size_t columns : {2u, 10u, 1000u}) {
        CAPTURE(offset);
        CAPTURE(spread);
        CAPTURE(columns);
        // A sum of 1000 terms that the compiler turns into a single chain has up to 14.
        CHECK(worst_error(columns, offset, spread) < (columns < 1000 ? 4 : 16));
      }
}

TEST_CASE("softmax and cross_entropy: as accurate for many classes as for a thousand") {
  // Where the compiler makes no vectors of the loop, a thousand equal terms one after another round some 80 times alike.
  const auto low = real(-2.3);
  for (const size_t classes : {1024u, 1025u, 20'000u, 250'000u}) {
    CAPTURE(classes);
    Tensor x = Tensor::full({1, classes}, low);
    x[0] = 0;
    x.require_gradient();
    const double exact = std::log(1 + static_cast<double>(classes - 1) * std::exp(static_cast<double>(low)));
    CHECK(std::abs(static_cast<double>(sum(softmax(x)).item()) - 1) < 128 * ulp);
    Tape tape;
    const Tensor loss = cross_entropy(x, {0});
    CHECK(std::abs(static_cast<double>(loss.item()) - exact) < 32 * ulp * exact);
    tape.backward(loss);
    CHECK(std::abs(static_cast<double>(sum(x.gradient()).item())) < 128 * ulp);
  }
}

TEST_CASE("log_softmax and cross_entropy: equal logits are equally likely, at any size") {
  for (const real level : {real(-1e30), real(-1e6), real(0), real(1e6), real(1e30)}) {
    Tensor x = Tensor::full({1, 3}, level).require_gradient();
    CHECK(difference(log_softmax(x), {-std::log(3.0), -std::log(3.0), -std::log(3.0)}) < ulp);
    Tape tape;
    const Tensor loss = cross_entropy(x, {1});
    CHECK(std::fabs(static_cast<double>(loss.item()) - std::log(3.0)) < ulp);
    tape.backward(loss);
    CHECK(difference(x.gradient(), {1.0 / 3, -2.0 / 3, 1.0 / 3}) < ulp);
  }
}

TEST_CASE("cross_entropy: the mean over many rows is as accurate as over few") {
  constexpr size_t rows = 300000;
  const Tensor x = sample({rows, 3}, 1);
  const std::vector<int> labels = some_labels(rows, 3);
  long double exact = 0;
  for (size_t r = 0; r < rows; ++r) {
    const auto at = [&](size_t c) { return static_cast<long double>(x[r * 3 + c]); };
    exact +=
        std::log(std::exp(at(0)) + std::exp(at(1)) + std::exp(at(2))) - at(static_cast<size_t>(labels[r]));
  }
  exact /= rows;
  const auto error = static_cast<long double>(cross_entropy(x, labels).item()) / exact - 1;
  CHECK(static_cast<double>(std::fabs(error)) < 4 * ulp);
}

TEST_CASE("bernoulli_cross_entropy: nothing cancels") {
  for (const double x : {1e4, -1e4, 300.0, -300.0, 1e6})
    for (const double t : {0.0, 0.125, 0.5, 0.999, 1.0}) {
      const auto logit = static_cast<real>(x), target = static_cast<real>(t);
      const real y = bernoulli_cross_entropy(Tensor::from({1}, {logit}), Tensor::from({1}, {target}))[0];
      const auto share = static_cast<long double>(target);
      const long double size = std::fabs(static_cast<long double>(logit));
      const long double exact = size * (x > 0 ? 1 - share : share) + std::log1p(std::exp(-size));
      const auto error = static_cast<double>(std::fabs(static_cast<long double>(y) - exact));
      CHECK(error <= 2 * ulp * static_cast<double>(exact) + 1e-100);
    }
}

TEST_CASE("softmax and log_softmax: gradients") {
  std::vector<Shape> shapes = odd_shapes;
  shapes.insert(shapes.end(), {Shape{5}, Shape{2, 3, 4}});
  for (const Shape& shape : shapes) {
    const Tensor x = sample(shape, 1, -2, 2);
    check_gradients({x}, [&] { return weighted(softmax(x)); });
    check_gradients({x}, [&] { return weighted(log_softmax(x)); });
    check_gradients({x}, [&] { return weighted(softmax(x)) + weighted(log_softmax(x)) + weighted(x); });
  }
}

TEST_CASE("cross_entropy: known values") {
  const auto at = [](double v) { return static_cast<real>(v); };
  const Tensor logits = Tensor::from({2, 3}, {0, at(std::log(2.0)), at(std::log(5.0)), 7, 7, 7});
  const double expected = (-std::log(0.25) + std::log(3.0)) / 2;
  CHECK(std::fabs(cross_entropy(logits, {{1, 2}}).item() - expected) < 4 * ulp);
  CHECK(cross_entropy(Tensor::from({1, 2}, {1e4, -1e4}), {0}).item() == 0);
  CHECK(cross_entropy(Tensor::from({1, 2}, {1e4, -1e4}), {1}).item() == real(2e4));
}

TEST_CASE("cross_entropy: is the mean of -log_softmax, gradients included") {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{1, 3}, Shape{7, 17}, Shape{2, 33}, Shape{2, 3, 4}, Shape{5}}) {
    const std::vector<int> labels = some_labels(shape.rows(), shape.columns());
    const Tensor x = sample(shape, 1, -2, 2);
    real expected = 0;
    for (size_t r = 0; r < shape.rows(); ++r)
      expected -= log_softmax(x)[r * shape.columns() + static_cast<size_t>(labels[r])];
    const real count = static_cast<real>(shape.rows());
    CHECK(std::fabs(static_cast<double>(cross_entropy(x, labels).item() - expected / count)) < 8 * ulp);
    check_gradients({x}, [&] { return cross_entropy(x, labels) * real(3); });
    check_gradients({x}, [&] { return cross_entropy(x, labels) + weighted(x); });
  }
}

TEST_CASE("cross_entropy keeps its own copy of the labels until backward") {
  Tensor x = Tensor::zeros({1, 2}).require_gradient();
  std::vector<int> labels = {1};
  Tape tape;
  const Tensor loss = cross_entropy(x, labels);
  labels[0] = 0;
  tape.backward(loss);
  CHECK(difference(x.gradient(), {0.5, -0.5}) < ulp);
}

TEST_CASE("bernoulli_cross_entropy: known values, finite everywhere") {
  const Tensor x = Tensor::from({4}, {0, 2, 1000, -1000}), t = Tensor::from({4}, {0.25, 1, 0, 1});
  const double softplus = std::log1p(std::exp(-2.0));
  CHECK(difference(bernoulli_cross_entropy(x, t), {std::log(2.0), softplus, 1000, 1000}) < 4 * ulp);
}

TEST_CASE("bernoulli_cross_entropy: gradient, and none for the targets") {
  for (const Shape& shape : odd_shapes) {
    const Tensor x = sample(shape, 1, -3, 3), targets = sample(shape, 2, 0, 1);
    check_gradients({x}, [&] { return weighted(bernoulli_cross_entropy(x, targets)); });
  }
  Tensor x = leaf({3}, 1), targets = leaf({3}, 2, 0, 1);
  Tape tape;
  tape.backward(sum(bernoulli_cross_entropy(x, targets)));
  CHECK(targets.gradient_data() == nullptr);
}

TEST_CASE("bernoulli_cross_entropy: a write into the targets is found") {
  const Tensor x = leaf({3}, 1);
  for (const bool learned : {false, true}) {
    Tensor targets = sample({3}, 2, 0, 1);
    if (learned) targets.require_gradient();
    Tape tape;
    const Tensor loss = sum(bernoulli_cross_entropy(x, targets));
    targets[0] += 1;
    CHECK(contains(error_of([&] { tape.backward(loss); }), "was written after it was recorded"));
  }
}

TEST_CASE("losses: one and two threads agree, repeated runs are identical") {
  const std::vector<int> labels = some_labels(200, 301);
  const Tensor targets = sample({200, 301}, 2, 0, 1);
  const auto run = [&](int count) {
    set_threads(count);
    Tensor x = leaf({200, 301}, 1, -2, 2);
    Tape tape;
    const Tensor y = softmax(x) + log_softmax(x) + bernoulli_cross_entropy(x, targets);
    tape.backward(weighted(y) + cross_entropy(x, labels));
    return std::vector<Tensor>{y, x.gradient()};
  };
  const auto single = run(1), twice = run(2), again = run(2);
  for (size_t i = 0; i < single.size(); ++i) {
    CHECK(identical(twice[i], again[i]));
    CHECK(difference(single[i], twice[i]) < 10 * ulp);
  }
  set_threads(0);
}

TEST_CASE("losses: errors name the op and the shapes") {
  CHECK_ERROR(softmax(Tensor({2, 0})), "softmax: [2 x 0] has no classes in its last axis");
  CHECK_ERROR(log_softmax(Tensor(Shape{})), "log_softmax: [scalar] has no classes in its last axis");
  CHECK_ERROR(cross_entropy(Tensor({2, 0}), {{0, 0}}),
              "cross_entropy: [2 x 0] has no classes in its last axis");
  const Tensor logits({2, 3});
  CHECK_ERROR(cross_entropy(logits, {1}),
              "cross_entropy: 1 labels for logits [2 x 3]; one per row is needed");
  CHECK_ERROR(cross_entropy(Tensor({0, 3}), {}),
              "cross_entropy: the logits [0 x 3] have no row, and nothing has no mean");
  CHECK_ERROR(cross_entropy(logits, {{1, 3}}), "cross_entropy: label 3 is outside the 3 classes");
  CHECK_ERROR(cross_entropy(logits, {{-1, 0}}), "cross_entropy: label -1 is outside the 3 classes");
  CHECK_ERROR(bernoulli_cross_entropy(logits, Tensor({3, 2})),
              "bernoulli_cross_entropy: logits [2 x 3] and targets [3 x 2] differ");
}
