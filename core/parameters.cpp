#include "core/parameters.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/memory/flat_storage.h"
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

Parameters::Parameters(Parameters&& other) noexcept
    : seed_(other.seed_),
      learned_(std::move(other.learned_)),
      state_(std::move(other.state_)),
      offsets_(std::move(other.offsets_)),
      trained_(std::move(other.trained_)),
      flat_(other.flat_),
      keeps_flat_(std::move(other.keeps_flat_)),
      lock_(std::move(other.lock_)),
      lifetime_(std::move(other.lifetime_)),
      names_(std::move(other.names_)) {
  if (lifetime_ != nullptr) *lifetime_ = this;
}

Parameters& Parameters::operator=(Parameters&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

void Parameters::fail_moved() {
  fail("parameters: this object has been moved from; use the one that it was moved to");
}

Tensor Parameters::add(const std::string& name, Tensor initial) {
  require_new(name);
  if (!initial.defined()) fail("parameters: '", name, "' is an empty handle; give it initial values");
  if (initial.size() == 0)
    fail("parameters: '", name, "' ", initial.shape(), " has no numbers to learn; give it sizes above 0");
  if (initial.size() != initial.storage()->size)
    fail("parameters: '", name, "' ", initial.shape(), " is a part of a larger tensor; add its copy()");
  detail::Storage& storage = *initial.storage();
  const detail::Storage* const lender = detail::holder_of(storage).lender;
  if (lender == flat_)
    for (const Entry& entry : learned_)
      if (entry.value.storage() == &storage)
        fail("parameters: '", name, "' is the same tensor as '", entry.name,
             "'; add it once and share the handle");
  if (lender != nullptr && lender->flat)
    fail("parameters: '", name, "' ", initial.shape(),
         " is a parameter of another model, which could then no longer train it; share the handle, or add "
         "its copy()");
  if (storage.history != detail::History::none)
    fail("parameters: '", name, "' ", initial.shape(),
         " is the result of an op on a tape, which cannot be trained itself; add its copy()");
  if (storage.lent)
    fail("parameters: '", name, "' ", initial.shape(),
         " shares its values with a tensor that was detached before; add it first, or add its copy()");
  initial.require_gradient();
  offsets_.push_back(flat_->take(storage));
  learned_.push_back({name, initial});
  names_.insert(name);
  train_from(learned_.size() - 1);
  return initial;
}

Tensor Parameters::add_state(const std::string& name, Tensor initial) {
  require_new(name);
  if (!initial.defined()) fail("parameters: '", name, "' is an empty handle; give it initial values");
  state_.push_back({name, initial});
  names_.insert(name);
  return initial;
}

void Parameters::require_new(const std::string& name) const {
  require_here();
  if (names_.contains(name))
    fail("parameters: the name '", name, "' is used twice; give each layer a name of its own");
}

Random Parameters::random(const std::string& name) const { return Random(require_here().seed_, hash(name)); }

size_t Parameters::count() const {
  size_t total = 0;
  for (const Entry& entry : learned()) total += entry.value.size();
  return total;
}

std::span<real> Parameters::values() {
  require_here();
  if (Tape::any_recorded())
    for (Entry& entry : learned_) (void)entry.value.data();  // the tape checks whether they change
  flat_->buffer.join();
  return {flat_->values, flat_->buffer.size() / sizeof(real)};
}

std::span<real> Parameters::gradients() {
  const std::span<real> all = gradients_to_scale();
  for (const Entry& entry : learned_) {
    detail::Storage& storage = *entry.value.storage();
    storage.gradient_exposed = true;
    if (storage.needs_gradient)
      storage.gradient_written = true;
    else
      std::fill_n(storage.gradient, storage.size, real{0});
  }
  return all;
}

std::span<real> Parameters::gradients_to_scale() {
  for (const Entry& entry : learned()) {
    detail::Storage& storage = *entry.value.storage();
    if (storage.gradient_written || !storage.needs_gradient) continue;
    std::fill_n(storage.gradient, storage.size, real{0});
    storage.gradient_in_rows = true;
  }
  flat_->buffer.join();
  return {flat_->gradient, flat_->buffer.size() / sizeof(real)};
}

bool Parameters::any_gradient() const {
  return std::ranges::any_of(learned(), [](const Entry& entry) {
    return entry.value.needs_gradient() && entry.value.gradient_data() != nullptr;
  });
}

void Parameters::freeze(const std::string& name) { set_frozen("freeze", name, true); }
void Parameters::thaw(const std::string& name) { set_frozen("thaw", name, false); }

void Parameters::set_frozen(const char* action, const std::string& name, bool frozen) {
  if (Tape::any_recorded())
    fail(action, " '", name,
         "': a tape has recorded ops that would then get wrong gradients; call it before the forward pass or "
         "after "
         "backward()");
  for (const size_t i : named(name)) {
    learned_[i].value.storage()->needs_gradient = !frozen;
    learned_[i].value.storage()->frozen = frozen;
    learned_[i].value.clear_gradient();
  }
  find_trained();
}

std::vector<size_t> Parameters::named(const std::string& name) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < learned().size(); ++i)
    if (is_named(learned_[i].name, name)) found.push_back(i);
  if (!found.empty()) return found;
  std::string known;
  constexpr size_t shown = 8;
  for (size_t i = 0; i < std::min(shown, learned_.size()); ++i)
    known += text(i > 0 ? ", '" : "'", learned_[i].name, "'");
  if (learned_.size() > shown) known += text(" and ", learned_.size() - shown, " more");
  fail("parameters: none is named '", name, "' or '", name, "....'; there are ",
       known.empty() ? "none" : known);
}

void Parameters::find_trained() {
  trained_.clear();
  train_from(0);
}

/// Enters parameter number i and those after it, which are in no range yet.
void Parameters::train_from(size_t i) {
  const size_t size = flat_->buffer.size() / sizeof(real);
  if (i > 0 && !frozen(i - 1)) trained_.back().end = offsets_[i];
  for (; i < learned_.size(); ++i) {
    if (frozen(i)) continue;
    const Range own{offsets_[i], i + 1 < learned_.size() ? offsets_[i + 1] : size};
    if (!trained_.empty() && trained_.back().end == own.begin)
      trained_.back().end = own.end;
    else
      trained_.push_back(own);
  }
}

bool is_named(const std::string& name, const std::string& part) {
  return part.empty() || name == part ||
         (name.starts_with(part) && (part.ends_with('.') || name[part.size()] == '.'));
}

void Parameters::clear_gradients() {
  require_here();
  for (Entry& entry : learned_) entry.value.clear_gradient();
}

}  // namespace lamina
