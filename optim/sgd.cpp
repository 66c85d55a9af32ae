#include "optim/sgd.h"

#include "core/error.h"

namespace lamina {

Sgd::Sgd(Parameters& parameters, const SgdOptions& chosen)
    : Optimizer(parameters, "sgd"), options(chosen), velocity(zeros()) {
  if (!(chosen.learning_rate > 0)) fail("sgd: learning rate ", chosen.learning_rate, "; it must be positive");
  if (!(chosen.momentum >= 0 && chosen.momentum < 1))
    fail("sgd: momentum ", chosen.momentum, "; it must be at least 0 and below 1");
}

void Sgd::step() {
  require_step(options.learning_rate);
  ++steps;
  const real rate = options.learning_rate, momentum = options.momentum, decay = options.weight_decay;
  const bool nesterov = options.nesterov;
  real* const w = parameters_.values().data();
  real* const u = velocity.data();
  const real* const gradient = parameters_.gradients_to_scale().data();
  update_each([=](size_t i) {
    const real g = gradient[i] + decay * w[i];
    u[i] = momentum * u[i] + g;
    w[i] -= rate * (nesterov ? g + momentum * u[i] : u[i]);
  });
}

}  // namespace lamina
