#pragma once
// Logistic regression over K classes, with hard or soft labels.
//
//   P(class k | x) = e^s_k / sum_l e^s_l,   s_0 = 0,   s_k = w_k . x + b_k for k > 0
//   loss = mean over cases of -sum_k p_k log P(k | x) + sum_k |w_k|^2 / (2 C cases)
//
// which for K = 2 is the usual form. p is a case's label: 1 for its class, or weights that sum to 1.

#include <span>
#include <vector>

#include "models/skip_thoughts/evaluation/features.h"
#include "models/skip_thoughts/evaluation/lbfgs.h"

namespace lamina::skip_thoughts {

struct Labels {
  size_t classes = 2;
  std::vector<real> shares;  ///< p [cases x classes]
};
Labels hard_labels(std::span<const int> classes_of_cases, size_t classes);

struct Regression {
  size_t classes = 2;
  std::vector<real> weights;  ///< [classes - 1] x (w, b)

  /// P(class | x) of one row.
  std::vector<double> probabilities(const Features& x, size_t row) const;
  /// The most probable class of one row.
  size_t predict(const Features& x, size_t row) const;
};

/// Fits the cases whose rows are listed, on the calling thread, beginning at `start` (zeros when empty), with what is
/// `known` of the loss's curvature (curvature_bound.h): the same minimum in fewer steps.
Regression fit(const Features& x, const Labels& labels, std::span<const int> rows, double C,
               const Regression& start = {}, const InverseHessian& known = {});

}  // namespace lamina::skip_thoughts
