#include "core/parameters.h"

#include <algorithm>

#include "core/pool.h"

namespace lamina {

namespace {

constexpr size_t alignment = 64 / sizeof(real);

/// FNV-1a: a stable number for a name.
std::uint64_t hash(const std::string& name) {
  std::uint64_t value = 14695981039346656037U;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return value;
}

}  // namespace

Tensor Parameters::add(const std::string& name, Tensor initial) {
  require_new(name);
  if (!initial.defined()) fail("parameters: '", name, "' is an empty handle; give it initial values");
  if (initial.size() != initial.storage()->size)
    fail("parameters: '", name, "' ", initial.shape(), " is a part of a larger tensor; add its copy()");
  for (const Entry& entry : learned_)
    if (entry.value.storage() == initial.storage())
      fail("parameters: '", name, "' is the same tensor as '", entry.name,
           "'; add it once and share the handle");
  initial.require_gradient();
  learned_.push_back({name, initial});
  offsets_.push_back(padded_size_);
  padded_size_ += (initial.size() + alignment - 1) / alignment * alignment;
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
  flatten();
  return flat_.step(0).values();
}

std::span<real> Parameters::gradients() {
  flatten();
  for (const Entry& entry : learned_) {
    detail::Storage& storage = *entry.value.storage();
    if (storage.gradient_written) continue;
    std::fill_n(storage.gradient, storage.size, real{0});
    storage.gradient_written = true;
  }
  return flat_.step(1).values();
}

void Parameters::clear_gradients() {
  for (Entry& entry : learned_) entry.value.clear_gradient();
}

void Parameters::flatten() {
  if (flattened_ == learned_.size() && flat_.defined()) return;
  Tensor both = Tensor::zeros({2, padded_size_});
  real *const values = both.data(), *const gradients = values + padded_size_;
  for (size_t i = 0; i < learned_.size(); ++i) {
    detail::Storage& storage = *learned_[i].value.storage();
    std::copy_n(storage.values, storage.size, values + offsets_[i]);
    if (storage.gradient_written) std::copy_n(storage.gradient, storage.size, gradients + offsets_[i]);
    storage.move_to(values + offsets_[i], gradients + offsets_[i], both.storage());
  }
  flat_ = both;
  flattened_ = learned_.size();
}

}  // namespace lamina
