#include "layers/norms/norm.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace lamina {

const NormEntry& entry_of(Norm norm) {
  const auto* const entry = std::ranges::find(norm_table, norm, &NormEntry::norm);
  if (entry == std::end(norm_table))
    fail("norm number ", static_cast<int>(norm), ": has no row in norm_table; add it (layers/norms/norm.h)");
  return *entry;
}

Norm weights_of(Norm norm) { return entry_of(norm).weights ? norm : Norm::none; }

std::optional<Norm> norm_named(std::string_view name) {
  for (const NormEntry& entry : norm_table)
    if (!name.empty() && (name == entry.name || name == entry.short_name)) return entry.norm;
  return std::nullopt;
}

void require_norm(const std::string& who, Norm norm, std::initializer_list<Norm> choices) {
  if (std::ranges::find(choices, norm) != choices.end()) return;
  std::string list;
  for (const Norm& choice : choices)
    list += text(list.empty() ? "" : &choice + 1 == choices.end() ? " or " : ", ", name_of(choice));
  fail(who, ": norm is ", name_of(norm), "; choose ", list);
}

}  // namespace lamina
