#include "optim/optimizer.h"

#include <algorithm>

#include "core/error.h"

namespace lamina {

void Optimizer::update_only(const Tensor& table, std::function<std::span<const int>()> rows) {
  const auto& learned = parameters_.learned();
  const auto same = [&](const Parameters::Entry& entry) { return entry.value.storage() == table.storage(); };
  const auto place = std::ranges::find_if(learned, same);
  if (place == learned.end()) fail(name_, ": the table ", table.shape(), " is not a parameter of this model");
  const size_t begin = parameters_.offset(static_cast<size_t>(place - learned.begin()));
  lazy_.push_back({begin, begin + table.size(), table.columns(), std::move(rows)});
  std::ranges::sort(lazy_, {}, &Lazy::begin);
}

void Optimizer::require_same_model() const {
  if (parameters_.values().size() != size_)
    fail(name_, ": the model grew after its optimizer was made; make the optimizer when all layers exist");
}

}  // namespace lamina
