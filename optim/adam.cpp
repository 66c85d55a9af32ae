#include "optim/adam.h"

#include <cmath>

#include "core/error.h"

namespace lamina {

namespace {

/// A step with the corrections: w -= step_size * m / (sqrt(v) * inverse_root + epsilon).
struct Correction {
  real step_size, inverse_root;
};

/// In double: 1 - 0.999^t loses digits in float.
Correction correction_at(std::uint64_t step, real learning_rate, const AdamOptions& options) {
  const auto t = static_cast<double>(step);
  const auto rate = static_cast<double>(learning_rate), beta1 = static_cast<double>(options.beta1),
             beta2 = static_cast<double>(options.beta2);
  if (options.bias_correction == BiasCorrection::complements)
    return {static_cast<real>(rate * std::sqrt(1 - std::pow(1 - beta2, t)) / (1 - std::pow(1 - beta1, t))),
            1};
  return {static_cast<real>(rate / (1 - std::pow(beta1, t))),
          static_cast<real>(1 / std::sqrt(1 - std::pow(beta2, t)))};
}

}  // namespace

Adam::Adam(Parameters& parameters, const AdamOptions& chosen) : Adam(parameters, chosen, "adam") {}

Adam::Adam(Parameters& parameters, const AdamOptions& chosen, const std::string& name)
    : Optimizer(parameters, name, chosen.groups),
      options(chosen),
      first_moment(zeros()),
      second_moment(zeros()) {
  if (!(chosen.learning_rate > 0))
    fail(name, ": learning rate ", chosen.learning_rate, "; it must be positive");
  const bool divides = chosen.bias_correction == BiasCorrection::complements;  // by 1 - (1 - beta)^t
  for (const real beta : {chosen.beta1, chosen.beta2})
    if (!(beta >= 0 && beta < 1) || (divides && beta == 0))
      fail(name, ": beta ", beta, "; it must be ", divides ? "above" : "at least", " 0 and below 1");
  if (!(chosen.epsilon > 0)) fail(name, ": epsilon ", chosen.epsilon, "; it must be positive");
}

void Adam::step() {
  begin_step({options.learning_rate, options.weight_decay, options.groups, options.decayed});
  const real beta1 = options.beta1, beta2 = options.beta2, epsilon = options.epsilon;
  real* const w = parameters().values().data();
  real *const m = first_moment.data(), *const v = second_moment.data();
  const real* const gradient = parameters().gradients_to_scale().data();
  update_each([=, this](const Part& part) {
    const Correction correction = correction_at(part.steps, part.learning_rate, options);
    const real step_size = correction.step_size, inverse_root = correction.inverse_root;
    // Added to the step, and not to 1: a factor 1 - decay on w would round to 1 where the decay is below 3e-8.
    const real decay = part.learning_rate * part.weight_decay;
    return [=](size_t i) {
      const real g = gradient[i];
      m[i] = beta1 * m[i] + (1 - beta1) * g;
      v[i] = beta2 * v[i] + (1 - beta2) * g * g;
      w[i] -= step_size * m[i] / (std::sqrt(v[i]) * inverse_root + epsilon) + decay * w[i];
    };
  });
}

std::vector<Parameters::Entry> Adam::state() const {
  return {{name() + ".first_moment", first_moment}, {name() + ".second_moment", second_moment}};
}

AdamW::AdamW(Parameters& parameters, const AdamWOptions& chosen)
    : Adam(parameters,
           {.learning_rate = chosen.learning_rate,
            .beta1 = chosen.beta1,
            .beta2 = chosen.beta2,
            .epsilon = chosen.epsilon,
            .weight_decay = chosen.weight_decay,
            .decayed = chosen.decayed,
            .groups = chosen.groups},
           "adamw") {}

}  // namespace lamina
