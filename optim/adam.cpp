#include "optim/adam.h"

#include <cmath>

#include "core/error.h"

namespace lamina {

namespace {

/// What the corrections make of a step: w -= step_size * m / (sqrt(v) * inverse_root + epsilon).
struct Correction {
  real step_size, inverse_root;
};

/// In double: 1 - 0.999^t loses digits in float.
Correction correction_at(std::uint64_t step, const AdamOptions& options) {
  const auto t = static_cast<double>(step);
  const auto rate = static_cast<double>(options.learning_rate), beta1 = static_cast<double>(options.beta1),
             beta2 = static_cast<double>(options.beta2);
  if (options.bias_correction == BiasCorrection::complements)
    return {static_cast<real>(rate * std::sqrt(1 - std::pow(1 - beta2, t)) / (1 - std::pow(1 - beta1, t))),
            1};
  return {static_cast<real>(rate / (1 - std::pow(beta1, t))),
          static_cast<real>(1 / std::sqrt(1 - std::pow(beta2, t)))};
}

}  // namespace

Adam::Adam(Parameters& parameters, const AdamOptions& chosen)
    : Optimizer(parameters, "adam"), options(chosen), first_moment(zeros()), second_moment(zeros()) {
  if (!(chosen.learning_rate > 0))
    fail("adam: learning rate ", chosen.learning_rate, "; it must be positive");
  for (const real beta : {chosen.beta1, chosen.beta2})
    if (!(beta >= 0 && beta < 1)) fail("adam: beta ", beta, "; it must be at least 0 and below 1");
  if (!(chosen.epsilon > 0)) fail("adam: epsilon ", chosen.epsilon, "; it must be positive");
}

void Adam::step() {
  require_step(options.learning_rate);
  const auto [step_size, inverse_root] = correction_at(++steps, options);
  const real beta1 = options.beta1, beta2 = options.beta2, epsilon = options.epsilon;
  const real keep = 1 - options.learning_rate * options.weight_decay;
  real* const w = parameters_.values().data();
  real *const m = first_moment.data(), *const v = second_moment.data();
  const real* const gradient = parameters_.gradients_to_scale().data();
  update_each([=, step_size = step_size, inverse_root = inverse_root](size_t i) {
    const real g = gradient[i];
    m[i] = beta1 * m[i] + (1 - beta1) * g;
    v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    w[i] = keep * w[i] - step_size * m[i] / (std::sqrt(v[i]) * inverse_root + epsilon);
  });
}

std::vector<Parameters::Entry> Adam::state() const {
  return {{"adam.first_moment", first_moment}, {"adam.second_moment", second_moment}};
}

}  // namespace lamina
