#include "optim/adam.h"

#include <algorithm>
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

void Adam::update_only(const Tensor& table, std::shared_ptr<const std::vector<int>> rows) {
  const auto& learned = parameters_.learned();
  const auto same = [&](const Parameters::Entry& entry) { return entry.value.storage() == table.storage(); };
  const auto place = std::ranges::find_if(learned, same);
  if (place == learned.end()) fail("adam: the table ", table.shape(), " is not a parameter of this model");
  const size_t begin = parameters_.offset(static_cast<size_t>(place - learned.begin()));
  lazy_.push_back({begin, begin + table.size(), table.columns(), std::move(rows)});
  std::ranges::sort(lazy_, {}, &Lazy::begin);
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
  const auto update = [=](size_t i) {
    const real g = gradient[i];
    m[i] = beta1 * m[i] + (1 - beta1) * g;
    v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    w[i] = keep * w[i] - step_size * m[i] / (std::sqrt(v[i]) * inverse_root + epsilon);
  };
  const auto update_range = [&](size_t begin, size_t end) {
    for_each_index(end - begin, [=](size_t i) { update(begin + i); });
  };
  size_t done = 0;
  for (const Lazy& lazy : lazy_) {
    update_range(done, lazy.begin);
    for (const int row : *lazy.rows) {
      const size_t begin = lazy.begin + static_cast<size_t>(row) * lazy.width;
      update_range(begin, begin + lazy.width);
    }
    done = lazy.end;
  }
  update_range(done, first_moment.size());
  parameters_.clear_gradients();
}

}  // namespace lamina
