#pragma once
// Section 5.2 in numbers: the paper's formulas against autodiff, the metric against the KL divergence, and
// how curvature depends on the length of the weights and on the scale of the inputs.

#include <cstdint>
#include <string>
#include <vector>

#include "models/analysis/fisher.h"

namespace lamina::analysis {

/// One model: how far (12) or (13) is from the exact matrix in each of its blocks, and how far (32) to (35)
/// are from the exact metric along the gains. All relative to the largest entry of the exact one.
struct FormulaCheck {
  GlmOptions glm;
  double weights, weights_bias, weights_gain, rest;  ///< NaN for a block that the model does not have
  double gain_metric;
};
std::vector<FormulaCheck> check_formulas(std::uint64_t seed);
std::string formula_table(const std::vector<FormulaCheck>& checks);

/// The size of layer norm's cross terms in Gaussian models with increasing numbers of units.
struct CrossTerms {
  size_t units;
  double weights;                ///< |(13) - exact| / |exact| of the weights' block, in Frobenius' norm
  double scaling, scaling_13;    ///< curvature along vec(W), exact and by (13) ...
  double shifting, shifting_13;  ///< ... and along a shift of all weight vectors by one vector,
};                               ///< as parts of the mean curvature in random directions
std::vector<CrossTerms> cross_terms(std::uint64_t seed);
std::string cross_term_table(const std::vector<CrossTerms>& all);

/// Moves of length t in one random direction: the KL divergence, and 1/2 t^2 d^T F d (Eq. 8).
struct KlCurve {
  GlmOptions glm;
  std::vector<double> t, kl, metric;
  /// The power of t with which kl - metric falls: 3, from the third derivatives of the KL divergence; NaN
  /// when the difference is only rounding.
  double slope() const;
};
std::vector<KlCurve> kl_curves(std::uint64_t seed);
std::string kl_table(const std::vector<KlCurve>& curves);

/// A curvature for a factor on all weights or on all inputs.
struct Sweep {
  GlmOptions glm;
  std::vector<double> factor, curvature;
  double slope() const;  ///< the curvature's power of the factor, fitted over all factors
};

/// Mean curvature along the weights when W becomes factor * W.
std::vector<Sweep> weight_sweeps(std::uint64_t seed);

/// Mean curvature along the gains (without normalization, along w_i / norm2(w_i)) when x becomes factor * x.
std::vector<Sweep> input_sweeps(std::uint64_t seed);
std::string sweep_table(const std::vector<Sweep>& sweeps, const std::string& what);

/// The slope of a straight line through log y over log x by least squares; pairs that are not positive are
/// skipped.
double log_log_slope(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace lamina::analysis
