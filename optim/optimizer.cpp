#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace lamina {

void Optimizer::update_only(const Tensor& table, std::function<std::span<const int>()> rows) {
  require_parameters();
  const auto& learned = parameters_.learned();
  const auto same = [&](const Parameters::Entry& entry) { return entry.value.storage() == table.storage(); };
  const auto place = std::ranges::find_if(learned, same);
  if (place == learned.end()) fail(name_, ": the table ", table.shape(), " is not a parameter of this model");
  const size_t begin = parameters_.offset(static_cast<size_t>(place - learned.begin()));
  lazy_.push_back({begin, begin + table.size(), table.columns(), std::move(rows)});
  std::ranges::sort(lazy_, {}, &Lazy::begin);
}

void Optimizer::require_parameters() const {
  if (lifetime_.expired())
    fail(name_,
         ": the parameters are gone; keep them as long as their optimizer, and declare them before it");
}

void Optimizer::require_step(real learning_rate) const {
  require_parameters();
  if (parameters_.values().size() != size_)
    fail(name_, ": the model grew after its optimizer was made; make the optimizer when all layers exist");
  if (!std::isfinite(learning_rate) || learning_rate < 0)
    fail(name_, ": the learning rate is ", learning_rate, " after ", steps,
         " steps; it must be a number of at least 0");
  if (!parameters_.any_gradient() && !parameters_.learned().empty())
    fail(name_, ": no gradient has arrived since the last step; call backward() before step()");
}

}  // namespace lamina
