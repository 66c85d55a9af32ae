#pragma once
// L-BFGS (Liu and Nocedal 1989): minimizes a smooth convex function from its values and gradients, with the
// curvature measured in the last few steps, beginning with what is known of it before.

#include <functional>
#include <span>

#include "core/real.h"

namespace lamina::skip_thoughts {

/// f(w), and its gradient into the second argument.
using Objective = std::function<double(std::span<const real> w, std::span<real> gradient)>;

/// Multiplies by an approximation of the inverse second derivative, in place.
using InverseHessian = std::function<void(std::span<real>)>;

struct LbfgsOptions {
  size_t memory = 10;  ///< steps that are remembered
  size_t most_steps = 300;
  /// Stops when no element of the gradient is larger, and the last step lowered f by no larger a share of it: where f is
  /// near 0 all gradients are small.
  double gradient = 1e-5, share = 1e-6;
  InverseHessian known = {};  ///< times a number that the last step tells; empty: 1
};

/// Starts at `w` and leaves the minimum there. Returns f(w).
double minimize(const Objective& f, std::span<real> w, const LbfgsOptions& options = {});

}  // namespace lamina::skip_thoughts
