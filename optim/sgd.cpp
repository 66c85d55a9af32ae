#include "optim/sgd.h"

#include "core/error.h"

namespace lamina {

Sgd::Sgd(Parameters& parameters, const SgdOptions& chosen)
    : Optimizer(parameters, "sgd", chosen.groups), options(chosen), velocity(zeros()) {
  if (!(chosen.learning_rate > 0)) fail("sgd: learning rate ", chosen.learning_rate, "; it must be positive");
  if (!(chosen.momentum >= 0 && chosen.momentum < 1))
    fail("sgd: momentum ", chosen.momentum, "; it must be at least 0 and below 1");
}

void Sgd::step() {
  begin_step({options.learning_rate, options.weight_decay, options.groups});
  const real momentum = options.momentum;
  const bool nesterov = options.nesterov;
  real* const w = parameters().values().data();
  real* const u = velocity.data();
  const real* const gradient = parameters().gradients_to_scale().data();
  update_each([=](const Part& part) {
    return [=, rate = part.learning_rate, decay = part.weight_decay](size_t i) {
      const real g = gradient[i] + decay * w[i];
      u[i] = momentum * u[i] + g;
      w[i] -= rate * (nesterov ? g + momentum * u[i] : u[i]);
    };
  });
}

}  // namespace lamina
