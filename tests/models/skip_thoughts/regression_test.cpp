// What is fitted to sentence vectors: the minimum of logistic regression, its strength by cross-validation, early stopping.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/math/random.h"
#include "core/threads/parallel.h"
#include "models/skip_thoughts/evaluation/early_stopping.h"
#include "models/skip_thoughts/evaluation/evaluation.h"
#include "models/skip_thoughts/evaluation/lbfgs.h"
#include "models/skip_thoughts/evaluation/regression.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::skip_thoughts;

namespace {

/// Two clouds of points around -1 and 1 in every coordinate.
DenseFeatures clouds(size_t rows, size_t columns, std::vector<int>& labels) {
  Tensor x({rows, columns});
  Random(5).fill_normal(x.data(), x.size(), 0, 1);
  labels.resize(rows);
  for (size_t r = 0; r < rows; ++r) {
    labels[r] = static_cast<int>(r % 2);
    for (size_t c = 0; c < columns; ++c) x[r * columns + c] += r % 2 == 0 ? real(-1) : real(1);
  }
  return DenseFeatures(x);
}

}  // namespace

TEST_CASE("L-BFGS finds the minimum of a narrow valley") {
  const auto f = [](std::span<const real> w, std::span<real> g) {
    g[0] = 2 * (w[0] - 3) + 2 * (w[0] - w[1]);
    g[1] = 200 * (w[1] + 1) - 2 * (w[0] - w[1]);
    const double x = static_cast<double>(w[0]), y = static_cast<double>(w[1]);
    return (x - 3) * (x - 3) + 100 * (y + 1) * (y + 1) + (x - y) * (x - y);
  };
  std::vector<real> w{-10, 10};
  minimize(f, w);
  // 2 x - y = 3 and 101 y - x = -100
  CHECK(static_cast<double>(w[0]) == doctest::Approx(203.0 / 201).epsilon(1e-3));
  CHECK(static_cast<double>(w[1]) == doctest::Approx(-197.0 / 201).epsilon(1e-3));
}

TEST_CASE("regression: where the gradient of its loss is zero, dense and sparse alike") {
  // One feature, x = 1 for all, half of the cases in each class but one: only the bias decides, w stays 0.
  const DenseFeatures ones(Tensor::ones({4, 1}));
  const std::vector<int> rows{0, 1, 2, 3}, classes{1, 1, 1, 0};
  const Regression even = fit(ones, hard_labels(classes, 2), rows, 1e-6);
  CHECK(even.probabilities(ones, 0)[1] == doctest::Approx(0.75).epsilon(1e-3));
  CHECK(even.predict(ones, 0) == 1);

  // Two points at -1 and 1, without a penalty on b: w solves w / (2 C) = 1 / (1 + e^w).
  const DenseFeatures two(Tensor::from({2, 1}, {-1, 1}));
  const std::vector<int> both{0, 1};
  const Regression pair = fit(two, hard_labels(both, 2), both, 2);
  const double w = static_cast<double>(pair.weights[0]);
  CHECK(w / 4 == doctest::Approx(1 / (1 + std::exp(w))).epsilon(1e-3));
  CHECK(std::fabs(pair.weights[1]) < real(1e-3));
  const SparseFeatures sparse({{{0, real(-1)}}, {{0, real(1)}}}, 1);
  CHECK(difference(fit(sparse, hard_labels(both, 2), both, 2).weights, pair.weights) < 1e-4);

  // Soft labels over three classes: with uninformative features, the prediction is the mean label.
  Labels soft{.classes = 3, .shares = {real(0.5), real(0.5), 0, 0, real(0.2), real(0.8)}};
  const DenseFeatures nothing(Tensor::zeros({2, 1}));
  const auto p = fit(nothing, soft, both, 1).probabilities(nothing, 0);
  CHECK(p[0] == doctest::Approx(0.25).epsilon(1e-3));
  CHECK(p[1] == doctest::Approx(0.35).epsilon(1e-3));
  CHECK(p[2] == doctest::Approx(0.4).epsilon(1e-3));
}

TEST_CASE("regression: comes to the minimum where nearly all cases are right, whose gradients are small") {
  // Points at -1 and 1: w / (C cases) = 1 / (1 + e^w), as above.
  constexpr size_t cases = 20'000;
  constexpr double C = 256, strength = 1 / (C * cases);
  Tensor x({cases, 1});
  std::vector<int> classes, rows(cases);
  std::iota(rows.begin(), rows.end(), 0);
  for (size_t i = 0; i < cases; ++i) {
    classes.push_back(static_cast<int>(i % 2));
    x[i] = i % 2 == 0 ? -1 : 1;
  }
  const auto loss = [&](double w) { return std::log1p(std::exp(-w)) + strength * w * w / 2; };
  double root = 10;  // Newton's method
  for (int i = 0; i < 20; ++i)
    root += (1 / (1 + std::exp(root)) - strength * root) / (std::exp(-root) + strength);
  // Where the weight of a smaller C may be: no element of the gradient is above 1e-5, and the loss is a fifth too high.
  const Regression near{.classes = 2, .weights = {real(11.6), 0}};
  CHECK(loss(11.6) > 1.15 * loss(root));
  for (const Regression& start : {Regression(), near}) {
    const Regression fitted = fit(DenseFeatures(x), hard_labels(classes, 2), rows, C, start);
    CHECK(loss(static_cast<double>(fitted.weights[0])) == doctest::Approx(loss(root)).epsilon(1e-3).scale(0));
  }
}

TEST_CASE("cross-validation: clouds apart are told apart, noise is not; threads change nothing") {
  std::vector<int> labels;
  const DenseFeatures apart = clouds(200, 4, labels);
  size_t folds = 0;
  const double accuracy = cross_validate(apart, labels, {}, [&] { ++folds; });
  CHECK(folds == 10);
  CHECK(accuracy > 95);
  set_threads(1);
  CHECK(cross_validate(apart, labels, {}) == accuracy);
  set_threads(0);
  CHECK(cross_validate(apart, labels, {.folds = 4, .inner_folds = 3}) > 95);
  const DenseFeatures noise(sample({200, 4}, 9));
  const double chance = cross_validate(noise, labels, {});
  CHECK(chance > 30);
  CHECK(chance < 70);
  CHECK(cross_validate(noise, labels, {.seed = 2}) != chance);  // other folds
  CHECK_ERROR(cross_validate(noise, {0, 1}, {}), "evaluation: 2 cases for 10 folds; at least 30 are needed");
}

TEST_CASE(
    "cross-validation: computed again, the strength that is best on other cases is the one that counts") {
  constexpr size_t cases = 120, folds = 3;
  const Tensor values = sample({cases, 12}, 3, -0.1, 0.1);  // so small that a strong penalty finds nothing
  const DenseFeatures x(values);
  std::vector<int> labels;
  for (size_t i = 0; i < cases; ++i)
    labels.push_back(values[12 * i] + values[12 * i + 1] > (i % 3 == 0 ? real(0.05) : real(-0.05)));
  const Labels hard = hard_labels(labels, 2);
  const auto part_of = [](const std::vector<int>& all, size_t index, size_t parts) {
    std::pair<std::vector<int>, std::vector<int>> split;  // held out, the rest
    for (size_t i = 0; i < all.size(); ++i)
      (i >= all.size() * index / parts && i < all.size() * (index + 1) / parts ? split.first : split.second)
          .push_back(all[i]);
    return split;
  };
  const auto accuracy = [&](const std::vector<int>& fitted, const std::vector<int>& held, double C) {
    const Regression regression = fit(x, hard, fitted, C);
    return 100.0 *
           static_cast<double>(std::ranges::count_if(held,
                                                     [&](int i) {
                                                       return regression.predict(x, static_cast<size_t>(i)) ==
                                                              static_cast<size_t>(labels[size_t(i)]);
                                                     })) /
           static_cast<double>(held.size());
  };
  const std::vector<int> order = Random(4).permutation(cases);
  double chosen = 0, weakest = 0;
  for (size_t fold = 0; fold < folds; ++fold) {
    const auto [held, rest] = part_of(order, fold, folds);
    double best = -1, best_C = 0;
    for (double C = 1; C <= 256; C *= 2) {
      double of_C = 0;
      for (size_t inner = 0; inner < 4; ++inner) {
        const auto [inner_held, inner_rest] = part_of(rest, inner, 10);
        of_C += accuracy(inner_rest, inner_held, C);
      }
      if (of_C > best) best = of_C, best_C = C;
    }
    chosen += accuracy(rest, held, best_C) / folds;
    weakest += accuracy(rest, held, 1) / folds;
  }
  CHECK(cross_validate(x, labels, {.folds = folds, .inner_folds = 4, .seed = 4}) ==
        doctest::Approx(chosen).epsilon(1e-9));
  CHECK(chosen != weakest);  // otherwise this test could not tell
}

TEST_CASE("early stopping: learns, keeps the best by its judge, and stops when that falls") {
  std::vector<int> labels;
  const DenseFeatures x = clouds(200, 4, labels);
  std::vector<int> rows(200);
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<Regression> seen;
  const std::vector<double> scores{0.5, 0.7, 0.6, 0.9};
  const Regression best = fit_early_stopping(x, hard_labels(labels, 2), rows,
                                             [&](const Regression& now) {
                                               seen.push_back(now);
                                               return scores[seen.size() - 1];
                                             },
                                             {.passes = 10, .learning_rate = real(0.05)});
  CHECK(seen.size() == 3);  // the fourth would be better, but the third was not
  CHECK(best.weights == seen[1].weights);
  CHECK(seen[0].weights != seen[1].weights);
  size_t right = 0;
  for (const int row : rows)
    right +=
        best.predict(x, static_cast<size_t>(row)) == static_cast<size_t>(labels[static_cast<size_t>(row)]);
  CHECK(right > 180);
  CHECK(EarlyStopping{}.batch == 128);
  CHECK(EarlyStopping{}.passes == 100);
  CHECK(EarlyStopping{}.learning_rate == real(1e-3));
}

TEST_CASE("early stopping: one step of full softmax regression, as scores against the first class") {
  // One case with x = 2 of class 1 of 3, one pass: Adam's first step moves every weight by the learning rate,
  // up for the class and down for the others, from Glorot's uniform initial values.
  const DenseFeatures x(Tensor::full({1, 1}, 2));
  const Labels labels{.classes = 3, .shares = {0, 1, 0}};
  const std::vector<int> rows{0};
  const auto after = [&](size_t passes) {
    int judged = 0;
    return fit_early_stopping(x, labels, rows, [&](const Regression&) { return -++judged; },
                              {.passes = passes, .learning_rate = real(0.25)});
  };
  const Regression start = after(0), once = after(1);
  CHECK(difference(Tensor::from({4}, {0.5, 0.5, 0, 0}),
                   {static_cast<double>(once.weights[0] - start.weights[0]),
                    static_cast<double>(once.weights[1] - start.weights[1]),
                    static_cast<double>(once.weights[2] - start.weights[2]),
                    static_cast<double>(once.weights[3] - start.weights[3])}) < 1e-5);
  CHECK(std::fabs(start.weights[0]) < 2 * std::sqrt(real(1.5)));  // of two weights within sqrt(6 / 4)
  CHECK(start.weights[1] == 0);
}
