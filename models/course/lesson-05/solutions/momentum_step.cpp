// Exercise: gradient descent with momentum.
#include "exercises.h"

void momentum_step(std::vector<double>& w, std::vector<double>& velocity, const std::vector<double>& g,
                   double rate, double momentum) {
  for (size_t i = 0; i < w.size(); ++i) {
    // [ your code: velocity[i], then w[i]
    velocity[i] = momentum * velocity[i] + g[i];
    w[i] -= rate * velocity[i];
    // ]
    // mistake: your w moves uphill: subtract
    // ~ velocity[i] = momentum * velocity[i] + g[i];
    // ~ w[i] += rate * velocity[i];
    // mistake: your w forgets the velocity of the steps before: this is plain gradient descent
    // ~ velocity[i] = g[i];
    // ~ w[i] -= rate * velocity[i];
    // mistake: your velocity is an average, with (1 - momentum) g; here g counts in full
    // ~ velocity[i] = momentum * velocity[i] + (1 - momentum) * g[i];
    // ~ w[i] -= rate * velocity[i];
    // mistake: your velocity keeps the share 1 - momentum of what it was; it must keep momentum
    // ~ velocity[i] = (1 - momentum) * velocity[i] + g[i];
    // ~ w[i] -= rate * velocity[i];
    // mistake: your w moves by the old velocity: update the velocity first
    // ~ w[i] -= rate * velocity[i];
    // ~ velocity[i] = momentum * velocity[i] + g[i];
    // mistake: your velocity contains the rate, so a new rate is not obeyed at once; multiply when w moves
    // ~ velocity[i] = momentum * velocity[i] + rate * g[i];
    // ~ w[i] -= velocity[i];
  }
}
