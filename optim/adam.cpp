#include "optim/adam.h"

#include <cmath>

#include "core/ops/map.h"

namespace lamina {

Adam::Adam(Parameters& parameters, const AdamOptions& chosen) : options(chosen), parameters_(parameters) {
  if (!(chosen.learning_rate > 0))
    fail("adam: learning rate ", chosen.learning_rate, "; it must be positive");
  for (const real beta : {chosen.beta1, chosen.beta2})
    if (!(beta >= 0 && beta < 1)) fail("adam: beta ", beta, "; it must be at least 0 and below 1");
  if (!(chosen.epsilon > 0)) fail("adam: epsilon ", chosen.epsilon, "; it must be positive");
  first_moment = Tensor::zeros({parameters.values().size()});
  second_moment = Tensor::zeros(first_moment.shape());
}

void Adam::step() {
  if (parameters_.values().size() != first_moment.size())
    fail("adam: the model grew after its optimizer was made; make the optimizer when all layers exist");
  ++steps;
  const real rate = options.learning_rate, beta1 = options.beta1, beta2 = options.beta2;
  const real epsilon = options.epsilon;
  // The bias corrections are folded into two factors, in double: 1 - 0.999^t loses digits in float.
  const auto t = static_cast<double>(steps);
  const double correction1 = 1 - std::pow(static_cast<double>(beta1), t);
  const double correction2 = 1 - std::pow(static_cast<double>(beta2), t);
  const auto step_size = static_cast<real>(rate / correction1);
  const auto inverse_root = static_cast<real>(1 / std::sqrt(correction2));
  const real keep = 1 - rate * options.weight_decay;

  real* const w = parameters_.values().data();
  real *const m = first_moment.data(), *const v = second_moment.data();
  const real* const gradient = parameters_.gradients().data();
  for_each_index(first_moment.size(), [=](size_t i) {
    const real g = gradient[i];
    m[i] = beta1 * m[i] + (1 - beta1) * g;
    v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    w[i] = keep * w[i] - step_size * m[i] / (std::sqrt(v[i]) * inverse_root + epsilon);
  });
  parameters_.clear_gradients();
}

}  // namespace lamina
