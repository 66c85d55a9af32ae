#pragma once
// The generalized linear models of Section 5.2, small enough for exact Fisher matrices.
//
//   log P(y | x) = (z y - eta(z)) / phi + c(y, phi)                        (Eq. 10, with z for a + b)
//
//   z = x W + b, or with a normalization   z = g (a - mu) / sigma + b, a = x W, epsilon = 0
//
//   gaussian      y is normal with mean z and variance phi
//   bernoulli     y is 1 with probability sigmoid(z), each output independently; phi = 1
//   categorical   y is one of the outputs, with probabilities softmax(z); phi = 1
//
// theta is vec([W, b, g]^T): (w_1, b_1, g_1), (w_2, b_2, g_2), ...; without normalization there are no gains.

#include <cstdint>
#include <vector>

#include "models/analysis/normalized_layer.h"

namespace lamina::analysis {

enum class Distribution { gaussian, bernoulli, categorical };

inline constexpr Distribution distributions[] = {Distribution::gaussian, Distribution::bernoulli,
                                                 Distribution::categorical};
/// Without normalization, and those of Section 5.2.
inline constexpr Norm glm_schemes[] = {Norm::none, Norm::batch, Norm::layer, Norm::weight};

const char* name_of(Distribution distribution);

struct GlmOptions {
  Norm norm = Norm::none;
  Distribution distribution = Distribution::gaussian;
  size_t cases = 12, inputs = 3, outputs = 3;
  double variance = 0.5;  ///< phi of the Gaussian
  std::uint64_t seed = 1;
};

class Glm {
 public:
  /// Random data, weights, biases and gains. Expectations over x are means over the data. Throws Error for
  /// sizes of 0, and for Bernoulli models with more than 8 outputs, whose outcomes are too many to list.
  explicit Glm(const GlmOptions& chosen);

  /// z [cases x outputs], by Lamina's layers
  Tensor natural_parameters() const { return normalized_layer(options.norm, x, layer, 0); }

  double phi() const { return options.distribution == Distribution::gaussian ? options.variance : 1; }
  bool has_gain() const { return options.norm != Norm::none; }

  /// How many numbers of theta a unit has, and their order within it: its weights, its bias, its gain.
  size_t unit_size() const { return options.inputs + (has_gain() ? 2 : 1); }
  size_t bias_place() const { return options.inputs; }
  size_t gain_place() const { return options.inputs + 1; }
  size_t theta_size() const { return options.outputs * unit_size(); }

  /// theta, theta's gradient in the same layout, and theta += step.
  std::vector<double> theta() const;
  std::vector<double> gradient() const;
  void move(const std::vector<double>& step);

  GlmOptions options;
  Tensor x;  ///< [cases x inputs]
  LayerValues layer;

 private:
  struct Place {
    Tensor tensor;
    size_t index;
  };
  Place place(size_t k) const;
};

/// A value of y and its probability.
struct Outcome {
  std::vector<double> y;
  double probability;
};

/// All outcomes for one case with natural parameters z [1 x outputs]. For the Gaussian, whose score is linear
/// in y, a finite set with its mean and covariance, which determine all expectations of products.
std::vector<Outcome> outcomes(const Glm& glm, const Tensor& z);

/// log P(y | x) up to c(y, phi), for one case; differentiable in z [1 x outputs].
Tensor log_likelihood(const Glm& glm, const Tensor& z, const std::vector<double>& y);

/// E_x KL(P(y | x; from) || P(y | x; to)) of two models of the same kind with the same data.
double kl_divergence(const Glm& from, const Glm& to);

}  // namespace lamina::analysis
