#include "optim/sgd.h"

#include "core/ops/map.h"

namespace lamina {

Sgd::Sgd(Parameters& parameters, const SgdOptions& chosen) : options(chosen), parameters_(parameters) {
  if (!(chosen.learning_rate > 0)) fail("sgd: learning rate ", chosen.learning_rate, "; it must be positive");
  if (!(chosen.momentum >= 0 && chosen.momentum < 1))
    fail("sgd: momentum ", chosen.momentum, "; it must be at least 0 and below 1");
  velocity = Tensor::zeros({parameters.values().size()});
}

void Sgd::step() {
  if (parameters_.values().size() != velocity.size())
    fail("sgd: the model grew after its optimizer was made; make the optimizer when all layers exist");
  const real rate = options.learning_rate, momentum = options.momentum, decay = options.weight_decay;
  const bool nesterov = options.nesterov;
  real* const w = parameters_.values().data();
  real* const u = velocity.data();
  const real* const gradient = parameters_.gradients().data();
  for_each_index(velocity.size(), [=](size_t i) {
    const real g = gradient[i] + decay * w[i];
    u[i] = momentum * u[i] + g;
    w[i] -= rate * (nesterov ? g + momentum * u[i] : u[i]);
  });
  parameters_.clear_gradients();
}

}  // namespace lamina
