#include "core/parameters.h"

#include <algorithm>

#include "core/flat_storage.h"
#include "core/tape.h"

namespace lamina {

namespace {

/// FNV-1a: a stable number for a name.
std::uint64_t hash(const std::string& name) {
  std::uint64_t value = 14695981039346656037U;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return value;
}

}  // namespace

Parameters::Parameters(std::uint64_t seed)
    : seed_(seed), flat_(new detail::FlatStorage), keeps_flat_(flat_) {}

Tensor Parameters::add(const std::string& name, Tensor initial) {
  require_new(name);
  if (!initial.defined()) fail("parameters: '", name, "' is an empty handle; give it initial values");
  if (initial.size() != initial.storage()->size)
    fail("parameters: '", name, "' ", initial.shape(), " is a part of a larger tensor; add its copy()");
  for (const Entry& entry : learned_)
    if (entry.value.storage() == initial.storage())
      fail("parameters: '", name, "' is the same tensor as '", entry.name,
           "'; add it once and share the handle");
  detail::Storage& storage = *initial.storage();
  if (storage.lent)
    fail("parameters: '", name, "' ", initial.shape(),
         " shares its values with a tensor that was detached before; add it first, or add its copy()");
  offsets_.push_back(flat_->take(storage));
  initial.require_gradient();
  learned_.push_back({name, initial});
  return initial;
}

Tensor Parameters::add_state(const std::string& name, Tensor initial) {
  require_new(name);
  state_.push_back({name, initial});
  return initial;
}

void Parameters::require_new(const std::string& name) const {
  const auto same = [&](const Entry& entry) { return entry.name == name; };
  if (std::ranges::any_of(learned_, same) || std::ranges::any_of(state_, same))
    fail("parameters: the name '", name, "' is used twice; give each layer a name of its own");
}

Random Parameters::random(const std::string& name) const { return Random(seed_, hash(name)); }

size_t Parameters::count() const {
  size_t total = 0;
  for (const Entry& entry : learned_) total += entry.value.size();
  return total;
}

std::span<real> Parameters::values() {
  if (Tape::any_recorded())
    for (Entry& entry : learned_) (void)entry.value.data();  // the tape looks whether they change
  flat_->buffer.join();
  return {flat_->values, flat_->buffer.size() / sizeof(real)};
}

std::span<real> Parameters::gradients() {
  const std::span<real> all = gradients_to_scale();
  for (const Entry& entry : learned_) {
    detail::Storage& storage = *entry.value.storage();
    storage.gradient_written = storage.gradient_exposed = true;
    storage.gradient_in_rows = false;
  }
  return all;
}

std::span<real> Parameters::gradients_to_scale() {
  for (const Entry& entry : learned_) {
    detail::Storage& storage = *entry.value.storage();
    if (storage.gradient_written) continue;
    std::fill_n(storage.gradient, storage.size, real{0});
    storage.gradient_in_rows = !storage.gradient_exposed;
  }
  flat_->buffer.join();
  return {flat_->gradient, flat_->buffer.size() / sizeof(real)};
}

bool Parameters::any_gradient() const {
  return std::ranges::any_of(learned_,
                             [](const Entry& entry) { return entry.value.gradient_data() != nullptr; });
}

void Parameters::clear_gradients() {
  for (Entry& entry : learned_) entry.value.clear_gradient();
}

}  // namespace lamina
