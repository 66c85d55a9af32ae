#include "models/skip_thoughts/evaluation/evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numeric>

#include "core/error.h"
#include "core/math/random.h"
#include "core/threads/parallel.h"
#include "models/skip_thoughts/evaluation/curvature_bound.h"
#include "models/skip_thoughts/evaluation/early_stopping.h"
#include "models/skip_thoughts/evaluation/regression.h"
#include "models/skip_thoughts/evaluation/scores.h"

namespace lamina::skip_thoughts {

namespace {

constexpr std::array<double, 9> strengths{1, 2, 4, 8, 16, 32, 64, 128, 256};  // C

/// What is known of the curvature, of features in a matrix. One C stands for all, since the bound changes little with it.
InverseHessian known_curvature(const Tensor* matrix, size_t classes) {
  constexpr double middle = 4;
  if (matrix == nullptr) return {};
  return InverseCurvature(*matrix, classes, middle);
}

/// Cases cut into `parts` of about the same size: number `index`, and all others.
struct Fold {
  std::vector<int> held_out, rest;
};
Fold fold_of(const std::vector<int>& cases, size_t index, size_t parts) {
  const size_t begin = cases.size() * index / parts, end = cases.size() * (index + 1) / parts;
  Fold fold;
  for (size_t i = 0; i < cases.size(); ++i)
    (i >= begin && i < end ? fold.held_out : fold.rest).push_back(cases[i]);
  return fold;
}

/// Calls body(i) for every i in [0, count), on all threads, and `done` after each.
template <class Body>
void for_each_counted(size_t count, const std::function<void()>& done, const Body& body) {
  std::mutex mutex;
  for_each_share(count, [&](size_t i) {
    body(i);
    const std::lock_guard lock(mutex);
    if (done) done();
  });
}

class CrossValidation {
 public:
  CrossValidation(const Features& x, const std::vector<int>& classes, const EvaluationOptions& options)
      : x_(x),
        classes_(classes),
        labels_(hard_labels(classes, 2)),
        known_(known_curvature(x.matrix(), 2)),
        options_(options) {}

  /// The accuracy on the cases that the fold holds out.
  double run(const Fold& fold) const {
    std::array<double, strengths.size()> accuracy{};
    std::array<Regression, strengths.size()> fitted;
    for (size_t inner = 0; inner < options_.inner_folds; ++inner) {
      const Fold part = fold_of(fold.rest, inner, std::max<size_t>(options_.inner_folds, 10));
      Regression regression;
      for (size_t i = 0; i < strengths.size(); ++i) {
        regression = fit(x_, labels_, part.rest, strengths[i], regression, known_);  // a warm start
        accuracy[i] += accuracy_of(regression, part.held_out);
        fitted[i] = regression;
      }
    }
    const size_t best = place_of_largest(accuracy);
    return accuracy_of(fit(x_, labels_, fold.rest, strengths[best], fitted[best], known_), fold.held_out);
  }

 private:
  double accuracy_of(const Regression& regression, const std::vector<int>& cases) const {
    size_t right = 0;
    for (const int i : cases) {
      const auto row = static_cast<size_t>(i);
      right += regression.predict(x_, row) == static_cast<size_t>(classes_[row]);
    }
    return 100 * static_cast<double>(right) / static_cast<double>(cases.size());
  }

  const Features& x_;
  const std::vector<int>& classes_;
  Labels labels_;
  InverseHessian known_;
  const EvaluationOptions& options_;
};

/// The expected class of each row, from 1 to 5.
std::vector<double> expected_classes(const Regression& regression, const Features& x, size_t begin,
                                     size_t end) {
  std::vector<double> expected;
  for (size_t row = begin; row < end; ++row) {
    const std::vector<double> p = regression.probabilities(x, row);
    double mean = 0;
    for (size_t k = 0; k < p.size(); ++k) mean += static_cast<double>(k + 1) * p[k];
    expected.push_back(mean);
  }
  return expected;
}

}  // namespace

double cross_validate(const Features& x, const std::vector<int>& labels, const EvaluationOptions& options,
                      const std::function<void()>& done) {
  constexpr size_t least = 3;  // per fold, so that there is always something to fit and to score
  if (labels.size() < least * options.folds)
    fail("evaluation: ", labels.size(), " cases for ", options.folds, " folds; at least ",
         least * options.folds, " are needed");
  const std::vector<int> order = Random(options.seed).permutation(labels.size());
  const CrossValidation validation(x, labels, options);
  std::vector<double> accuracy(options.folds);
  for_each_counted(options.folds, done, [&](size_t fold) {
    accuracy[fold] = validation.run(fold_of(order, fold, options.folds));
  });
  return std::accumulate(accuracy.begin(), accuracy.end(), 0.0) / static_cast<double>(options.folds);
}

std::vector<real> soft_label(double relatedness) {
  std::vector<real> p(5);
  const double below = std::clamp(std::floor(relatedness), 1.0, 5.0);
  const auto share = static_cast<real>(relatedness - below);
  const auto index = static_cast<size_t>(below) - 1;
  p[index] = 1 - share;
  if (share > 0) p[index + 1] = share;
  return p;
}

RelatednessScores predict_relatedness(const Representation& of, const Relatedness& data,
                                      const EvaluationOptions& options, const std::function<void()>& done) {
  std::vector<std::string> first, second;
  Labels labels{.classes = 5, .shares = {}};
  for (const Pairs* const part : {&data.train, &data.trial, &data.test}) {
    first.insert(first.end(), part->first.begin(), part->first.end());
    second.insert(second.end(), part->second.begin(), part->second.end());
    for (const double score : part->relatedness) {
      const std::vector<real> p = soft_label(score);
      labels.shares.insert(labels.shares.end(), p.begin(), p.end());
    }
  }
  const auto x = of.of_pairs(first, second);
  const size_t train = data.train.first.size(), trial = train + data.trial.first.size();
  std::vector<int> rows(train);
  std::iota(rows.begin(), rows.end(), 0);
  const auto judge = [&](const Regression& regression) {
    return pearson(expected_classes(regression, *x, train, trial), data.trial.relatedness);
  };
  Regression chosen;
  if (options.sick == SickFit::penalty) {
    std::array<Regression, strengths.size()> fitted;
    std::array<double, strengths.size()> r{};
    const Tensor matrix = x->matrix() == nullptr ? Tensor() : x->matrix()->slice(0, train);
    const InverseHessian known = known_curvature(x->matrix() == nullptr ? nullptr : &matrix, 5);
    for_each_counted(strengths.size(), done, [&](size_t i) {
      fitted[i] = fit(*x, labels, rows, strengths[i], {}, known);
      r[i] = judge(fitted[i]);
    });
    chosen = fitted[place_of_largest(r)];
  } else {
    chosen = fit_early_stopping(*x, labels, rows, judge, {.seed = options.seed});
    if (done) done();
  }
  if (std::isnan(judge(chosen)))
    fail<NotFinite>(
        "evaluation: r of SICK's trial pairs, which chooses the regression, is not a number; they need "
        "relatednesses, and "
        "vectors, that are not all the same");
  const std::vector<double> predicted = expected_classes(chosen, *x, trial, x->rows());
  const std::vector<double>& truth = data.test.relatedness;
  return {.r = pearson(predicted, truth),
          .rho = spearman(predicted, truth),
          .mse = mean_squared_error(predicted, truth)};
}

size_t evaluation_steps(const EvaluationOptions& options) {
  return (options.sick == SickFit::penalty ? strengths.size() : 1) + 4 * options.folds;
}

TaskScores evaluate(const Representation& of, const Relatedness& sick,
                    const std::vector<Classification>& tasks, const EvaluationOptions& options,
                    const std::function<void()>& done) {
  const RelatednessScores related = predict_relatedness(of, sick, options, done);
  TaskScores scores{.sick_r = related.r, .sick_rho = related.rho, .sick_mse = related.mse};
  const std::array<double*, 4> accuracies{&scores.mr, &scores.cr, &scores.subj, &scores.mpqa};
  for (size_t i = 0; i < tasks.size(); ++i)
    *accuracies.at(i) = cross_validate(*of.of(tasks[i].sentences), tasks[i].labels, options, done);
  return scores;
}

}  // namespace lamina::skip_thoughts
