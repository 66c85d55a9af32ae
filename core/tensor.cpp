#include "core/tensor.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <string>

#include "core/memory/allocator.h"
#include "core/memory/flat_storage.h"

namespace lamina {

namespace detail {

namespace {

std::atomic<std::uint64_t> threads_seen{0};
thread_local std::uint64_t upcoming_id = 0;  // 0: the thread has no number yet

}  // namespace

std::uint64_t next_id() {
  if (upcoming_id == 0) upcoming_id = (threads_seen++ << 44) + 1;
  return upcoming_id;
}

static Storage* create_storage(size_t size) {
  auto* const storage = new (memory::allocate(sizeof(Storage))) Storage;
  storage->size = size;
  storage->id = next_id();
  ++upcoming_id;
  return storage;
}

static void release(Storage* storage) {
  if (storage != nullptr && storage->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    destroy(storage);
}

static void release_buffers(Storage& storage) {
  const size_t bytes = storage.size * sizeof(real);
  if (storage.owns_values) memory::release(storage.values, bytes);
  if (storage.owns_gradient) memory::release(storage.gradient, bytes);
  release(std::exchange(storage.lender, nullptr));
}

void fail_empty(const char* op) {
  fail(op, ": a tensor is an empty handle; give it values first, as Tensor::zeros({2, 3}) has them");
}

void fail_index(size_t index, const Shape& shape) {
  fail("tensor: element ", index, " of ", shape, ", which has ", shape.size());
}

void fail_indices(std::span<const size_t> indices, const Shape& shape) {
  std::string list;
  for (const size_t index : indices) list += text(list.empty() ? "" : ", ", index);
  fail("tensor: element (", list, ") of ", shape, "; an index within each axis is needed");
}

void Storage::move_to(real* new_values, real* new_gradient, Storage* new_lender) {
  new_lender->references.fetch_add(1, std::memory_order_relaxed);
  release_buffers(*this);
  values = new_values;
  gradient = new_gradient;
  owns_values = owns_gradient = false;
  lender = new_lender;
}

void destroy(Storage* storage) {
  if (storage->flat) {
    delete static_cast<FlatStorage*>(storage);
    return;
  }
  release_buffers(*storage);
  storage->~Storage();
  memory::release(storage, sizeof(Storage));
}

}  // namespace detail

using detail::Storage;
using detail::StorageHandle;

namespace {

/// Says which tensor the memory was wanted for.
struct NoMemory final : std::bad_alloc {
  explicit NoMemory(const Shape& shape)
      : message(text("tensor: ", shape, " needs ",
                     static_cast<double>(shape.size()) * double{sizeof(real)} / 1e9,
                     " GB, which the system does not grant; take smaller sizes, or compute it in parts")) {}
  const char* what() const noexcept override { return message.c_str(); }

  std::string message;
};

}  // namespace

Tensor::Tensor(Shape shape) : shape_(shape) {
  if (shape.too_large()) fail("tensor: ", shape, " is too large");
  storage_ = StorageHandle(detail::create_storage(shape.size()));
  try {
    storage_->values = static_cast<real*>(memory::allocate(size() * sizeof(real)));
  } catch (const std::bad_alloc&) {
    throw NoMemory(shape);
  }
}

Tensor Tensor::full(Shape shape, real value) {
  Tensor result(shape);
  std::ranges::fill(result.values(), value);
  return result;
}

Tensor Tensor::from(Shape shape, std::span<const real> values) {
  if (values.size() != shape.size())
    fail("tensor: ", values.size(), " values given for shape ", shape, " of size ", shape.size());
  Tensor result(shape);
  std::ranges::copy(values, result.data());
  return result;
}

real Tensor::item() const {
  require_values("item", *this);
  if (size() != 1) fail("item: a tensor with one element is needed, this one is ", shape_);
  return data()[0];
}

Tensor Tensor::reshape(Shape shape) const {
  require_values("reshape", *this);
  if (shape.too_large()) fail("tensor: ", shape, " is too large");
  if (shape.size() != size()) fail("reshape: ", shape_, " to ", shape, ": the sizes differ");
  Tensor view = *this;
  view.shape_ = shape;
  return view;
}

Tensor Tensor::slice(size_t begin, size_t end) const {
  require_values("slice", *this);
  if (shape_.rank() == 0) fail("slice: a scalar has no leading axis");
  if (begin > end || end > shape_[0])
    fail("slice: [", begin, ", ", end, ") is outside the leading axis of ", shape_);
  Tensor view = *this;
  view.shape_ = shape_.with(0, end - begin);
  view.offset_ += begin * (shape_[0] == 0 ? 0 : size() / shape_[0]);
  return view;
}

Tensor Tensor::step(size_t index) const {
  const Tensor view = slice(index, index + 1);
  switch (shape_.rank()) {
    case 1:
      return view.reshape({});
    case 2:
      return view.reshape({shape_[1]});
    case 3:
      return view.reshape({shape_[1], shape_[2]});
    default:
      return view.reshape({shape_[1], shape_[2], shape_[3]});
  }
}

/// From here on the values have a separate holder, from which all borrow who share them: the gradient of one is
/// not kept for the others, and a write through any of them is found.
static void lend(Storage& shared) {
  static std::mutex mutex;  // threads that share a model may detach the same parameter
  const std::lock_guard lock(mutex);
  if (shared.lent) return;
  Storage* const holder = detail::create_storage(shared.size);
  holder->references = 1;
  holder->id = shared.id;
  holder->values = shared.values;
  holder->owns_values = std::exchange(shared.owns_values, false);
  holder->lender = std::exchange(shared.lender, holder);
  holder->recording = shared.recording.exchange(detail::ask_lender);
  shared.lent = true;
}

Tensor Tensor::detach() const {
  require_values("detach", *this);
  Storage& shared = *storage_.get();
  lend(shared);
  Tensor result;
  result.shape_ = shape_;
  result.storage_ = StorageHandle(detail::create_storage(size()));
  Storage& borrowed = *result.storage_.get();
  borrowed.values = shared.values + offset_;
  borrowed.owns_values = false;
  borrowed.lent = true;
  borrowed.recording = detail::ask_lender;
  borrowed.lender = shared.lender;
  shared.lender->references.fetch_add(1, std::memory_order_relaxed);
  return result;
}

Tensor Tensor::copy() const {
  require_values("copy", *this);
  return from(shape_, values());
}

Tensor& Tensor::require_gradient() {
  require_values("require_gradient", *this);
  if (storage_->frozen)
    fail("require_gradient: this ", shape_,
         " is a frozen parameter; thaw() it by its name, or take its detach() or copy()");
  if (!storage_->needs_gradient) detail::require_unread(*storage_.get(), shape_);
  storage_->needs_gradient = true;
  return *this;
}

Tensor Tensor::gradient() const {
  require_values("gradient", *this);
  const real* const gradient = gradient_data();
  return gradient == nullptr ? zeros(shape_) : from(shape_, std::span<const real>(gradient, size()));
}

void Tensor::clear_gradient() {
  require_values("clear_gradient", *this);
  if (size() == storage_->size)
    storage_->clear_gradient();
  else if (storage_->gradient_written)
    std::fill_n(storage_->gradient + offset_, size(), real{0});
}

GradientSink Tensor::gradient_sink() const {
  require_values("gradient_sink", *this);
  Storage& shared = *storage_.get();
  if (shared.gradient == nullptr)
    shared.gradient = static_cast<real*>(memory::allocate(shared.size * sizeof(real)));
  const bool first = !shared.gradient_written;
  const bool whole = size() == shared.size;
  // A view covers only its part, so the rest must read as zero before the first contribution lands.
  if (first && !whole) std::fill_n(shared.gradient, shared.size, real{0});
  shared.gradient_written = true;
  shared.gradient_in_rows = false;
  return {shared.gradient + offset_, !(first && whole)};
}

static thread_local GradientTarget* newest_target = nullptr;

GradientTarget::GradientTarget(const Tensor& x) : x_(x), older_(newest_target) {
  bool shared = false;  // with a target that writes, and so would lose what is added before
  for (const GradientTarget* each = older_; x.needs_gradient() && each != nullptr; each = each->older_)
    shared = shared || (each->x_.storage() == x.storage() && !each->sink_.add);
  if (shared)
    spare_ = Tensor::zeros(x.shape());
  else if (x.defined() && !x.needs_gradient())
    spare_ = Tensor(x.shape());
  if (spare_.defined())
    sink_ = {spare_.data(), shared};
  else if (x.defined())
    sink_ = x.gradient_sink();
  newest_target = this;
}

GradientTarget::~GradientTarget() {
  GradientTarget** place = &newest_target;
  while (*place != this) place = &(*place)->older_;
  *place = older_;
  if (!spare_.defined() || !x_.needs_gradient()) return;
  real* const dx = x_.gradient_sink().values;
  for (size_t i = 0; i < spare_.size(); ++i) dx[i] += sink_.values[i];
}

real* Tensor::gradient_in_place() {
  require_values("gradient_in_place", *this);
  Storage& shared = *storage_.get();
  if (shared.gradient != nullptr || size() != shared.size)
    fail("gradient_in_place: the gradient of this ", shape_, " has a place already");
  shared.gradient = shared.values;
  shared.owns_gradient = false;
  shared.gradient_written = true;
  return shared.gradient;
}

}  // namespace lamina
