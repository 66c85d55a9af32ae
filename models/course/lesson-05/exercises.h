#pragma once
// The exercises of lesson 5: your files implement these functions, the judge calls them.

#include <cmath>
#include <vector>

// momentum_step.cpp

/// One step of gradient descent with momentum: velocity = momentum velocity + g, w -= rate velocity. All vectors have
/// the same length; velocity starts as zeros.
void momentum_step(std::vector<double>& w, std::vector<double>& velocity, const std::vector<double>& g,
                   double rate, double momentum);

// best_rate.cpp

/// The learning rate at which gradient descent without momentum needs the fewest steps, for a loss
/// 1/2 sum_i curvatures[i] w_i^2; the curvatures are positive and in no order.
double best_rate(const std::vector<double>& curvatures);

// adam_step.cpp

struct AdamState {
  std::vector<double> m, v;  // the averages of g and of g^2, which start as zeros
  int steps = 0;             // taken so far
};

/// One step of Adam with beta1 = 0.9, beta2 = 0.999 and epsilon = 1e-8, which stands outside of the root.
void adam_step(std::vector<double>& w, AdamState& state, const std::vector<double>& g, double rate);

// decayed_step.cpp

/// Adam for one weight, written for you: the direction for a gradient, of a length of about 1.
struct AdamDirection {
  double m = 0, v = 0, steps = 0;
  double operator()(double g) {
    steps += 1;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    return m / (1 - std::pow(0.9, steps)) / (std::sqrt(v / (1 - std::pow(0.999, steps))) + 1e-8);
  }
};

enum class Decay { l2, decoupled };

/// Returns w after one step with a decay. With Decay::l2 the decay is the gradient of decay w^2 / 2, added to g; with
/// Decay::decoupled, w also shrinks by rate decay w, w being the weight before the step.
double decayed_step(double w, double g, double rate, double decay, Decay kind, AdamDirection& direction);
