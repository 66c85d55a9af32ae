#pragma once
// How smooth a loss is along its own gradient: what a step of gradient descent meets (Santurkar et al. 2018).
//
//   x_r = x - r g,  g = dL/dx at x
//
//   range of the loss      max_r L(x_r) - min_r L(x_r)
//   change of the gradient norm2(g_r - g) / norm2(g), g_r = dL/dx at x_r
//   effective smoothness   beta = max_r norm2(g_r - g) / norm2(x_r - x)

#include <functional>
#include <vector>

#include "core/parameters.h"
#include "models/lab/lab.h"

namespace lamina::lab {

struct GradientStep {
  double rate = 0;
  double loss = 0;             ///< L(x_r)
  double gradient_change = 0;  ///< norm2(g_r - g) / norm2(g)
  double smoothness = 0;       ///< norm2(g_r - g) / norm2(x_r - x)
};

struct Smoothness {
  double loss_range = 0;
  double gradient_change = 0;  ///< the largest
  double beta = 0;
};

/// `loss` computes the same function of the parameters at every call. Their values are the same afterwards, their
/// gradients zero. Error for a gradient of zero.
std::vector<GradientStep> steps_along_gradient(Parameters& parameters, const std::function<Tensor()>& loss,
                                               const std::vector<double>& rates);

Smoothness smoothness_of(const std::vector<GradientStep>& steps);

Lab smoothness();

}  // namespace lamina::lab
