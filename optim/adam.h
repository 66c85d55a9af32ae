#pragma once
// Adam (Kingma and Ba 2015) over all parameters in one pass.

#include "optim/optimizer.h"

namespace lamina {

/// The formula of Adam's bias corrections.
enum class BiasCorrection {
  betas,       ///< 1 - beta^t: Adam
  complements  ///< 1 - (1 - beta)^t: code of Vendrov et al. and Kiros et al., beta and 1 - beta swapped
};

struct AdamOptions {
  real learning_rate = real(1e-3);
  real beta1 = real(0.9);
  real beta2 = real(0.999);
  real epsilon = real(1e-8);
  real weight_decay = 0;  ///< decoupled (Loshchilov and Hutter 2019): w -= learning_rate * weight_decay * w
  BiasCorrection bias_correction = BiasCorrection::betas;
  Decayed decayed = Decayed::all;
  std::vector<ParameterGroup> groups = {};
};

/// t += 1;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
/// w -= learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
///
/// With BiasCorrection::complements, where epsilon is added to the uncorrected sqrt(v):
/// w -= learning_rate * sqrt(1 - (1 - beta2)^t) / (1 - (1 - beta1)^t) * m / (sqrt(v) + epsilon)
///
/// For the usual betas the factor before m becomes the learning rate almost at once, so the moments, which
/// start at zero, are hardly corrected: a step is 3.5 times Adam's at t = 1, 6.6 times at t = 12, 1.26 times
/// at 1000.
///
/// For a parameter that was frozen for a while, t counts the steps in which it was updated.
class Adam : public Optimizer {
 public:
  /// Throws Error for a learning rate or an epsilon that is not positive, or a beta outside [0, 1), under
  /// BiasCorrection::complements outside (0, 1).
  Adam(Parameters& parameters, const AdamOptions& options);

  void step() override;
  std::vector<Parameters::Entry> state() const override;

  AdamOptions options;  ///< learning rates and decays may be changed between steps
  Tensor first_moment, second_moment;

 protected:
  Adam(Parameters& parameters, const AdamOptions& options, const std::string& name);
};

struct AdamWOptions {
  real learning_rate = real(1e-3);
  real beta1 = real(0.9);
  real beta2 = real(0.999);
  real epsilon = real(1e-8);
  real weight_decay = real(0.01);
  Decayed decayed = Decayed::matrices;  ///< applies within groups too, whatever their decay
  std::vector<ParameterGroup> groups = {};
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019), by default of matrices only: a decay of
/// biases and gains would pull a layer's output to zero. Embeddings and convolutions count as matrices.
class AdamW final : public Adam {
 public:
  AdamW(Parameters& parameters, const AdamWOptions& options);
};

}  // namespace lamina
