#pragma once
// Tensor: a shape and a shared buffer.
//
// Copying a Tensor copies a handle. `reshape` and `slice` (along the leading axis) give views that share the
// buffer; because values and gradient of a view lie inside those of the whole, neither needs a node on the
// tape. An op that has nothing to do, as dropout of rate 0, returns its input. Beside these only recurrent layers
// give views: the last h of a sequence is a step of its hidden states, a result of StepLinear one of all results.
//
// Gradients live beside the values. The buffer of a gradient is allocated when the first contribution
// arrives; that one writes, later ones add (see GradientSink).

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "core/shape.h"

// The library itself is built with 0. Inlined everywhere, so that each source may choose for itself.
#ifndef LAMINA_CHECK_INDEX
#ifdef NDEBUG
#define LAMINA_CHECK_INDEX 0
#else
#define LAMINA_CHECK_INDEX 1
#endif
#endif
#define LAMINA_ELEMENT_ACCESS [[gnu::always_inline]] inline

namespace lamina {

namespace detail {

/// A tensor's relation to the tapes.
enum class History : std::uint8_t {
  none,      ///< a leaf or a constant
  recorded,  ///< a result on a tape that still holds it
  consumed,  ///< a result whose tape has run backward over it
  forgotten  ///< a result whose tape was cleared or destroyed
};

/// What the handles share: one cache line. Lives in the allocator's memory, reference-counted.
struct Storage {
  std::atomic<int> references{0};
  std::uint32_t clearings = 0;  ///< how often the gradient became zero; notes about an older one are invalid
  /// The last one that an op entered it into, as input or output. Of a storage that is `lent`, its lender's counts.
  std::atomic<std::uint32_t> recording{0};
  History history = History::none;
  bool needs_gradient = false;
  bool gradient_written = false;  ///< false: the gradient counts as zero whatever its buffer holds
  bool gradient_in_rows = false;  ///< only its Embedding has contributed, to rows that it has listed
  bool gradient_exposed = false;  ///< anyone may write into the gradient's buffer at any time
  bool owns_values = true;        ///< false: the values belong to a flat buffer or to another storage
  bool owns_gradient = true;
  bool flat = false;    ///< keeps the flat buffers of a model (core/memory/flat_storage.h)
  bool lent = false;    ///< shares its values with the other storages of its lender: they may not move
  bool frozen = false;  ///< a parameter that is not trained
  size_t size = 0;
  real* values = nullptr;
  real* gradient = nullptr;
  Storage* lender = nullptr;  ///< the owner of borrowed buffers, kept alive
  std::uint64_t id = 0;       ///< unique for the process; names tensors in a graph

  void clear_gradient() {
    gradient_written = false;
    ++clearings;
  }

  /// Releases its buffers and uses these from here on, which belong to `new_lender`, kept alive.
  void move_to(real* new_values, real* new_gradient, Storage* new_lender);
};

static_assert(sizeof(Storage) <= 64);

/// In `recording` of a storage that is lent: whoever writes into it asks its lender.
inline constexpr std::uint32_t ask_lender = ~std::uint32_t{0};

/// The storage whose `recording` and `id` stand for the values: one for all that share them since detach().
inline Storage& holder_of(Storage& storage) { return storage.lent ? *storage.lender : storage; }

void destroy(Storage* storage);

/// Called before the values of a tensor that a tape may hold, from number `offset` of the storage on, are handed out for
/// writing: if an open tape holds them, its backward() will check whether they have changed. Throws Error for an empty
/// handle.
void before_writing(Storage* storage, size_t offset, const Shape& shape);

/// Throws Error when an op on a tape of this thread has read the tensor, as a constant.
void require_unread(const Storage& storage, const Shape& shape);

[[noreturn]] void fail_empty(const char* op);
[[noreturn]] void fail_index(size_t index, const Shape& shape);
[[noreturn]] void fail_indices(std::span<const size_t> indices, const Shape& shape);

/// The id of the next storage that this thread makes. They grow, and no other thread has the same
/// thread_of(id).
std::uint64_t next_id();
constexpr std::uint64_t thread_of(std::uint64_t id) { return id >> 44; }

/// Counted pointer to a Storage.
class StorageHandle {
 public:
  StorageHandle() = default;
  explicit StorageHandle(Storage* storage) : storage_(storage) { acquire(); }
  StorageHandle(const StorageHandle& other) : storage_(other.storage_) { acquire(); }
  StorageHandle(StorageHandle&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  StorageHandle& operator=(StorageHandle other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~StorageHandle() {
    if (storage_ != nullptr && storage_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy(storage_);
  }
  Storage* operator->() const { return storage_; }
  Storage* get() const { return storage_; }

 private:
  void acquire() {
    if (storage_ != nullptr) storage_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Storage* storage_ = nullptr;
};

}  // namespace detail

/// Throws Error naming the op when one of its operands is an empty handle.
template <class... Operands>
void require_values(const char* op, const Operands&... operands) {
  if (!(... && operands.defined())) detail::fail_empty(op);
}

/// Where an op puts its contribution to a gradient: `values[i] += v` when `add`, else `values[i] = v`, for
/// every element without exception.
struct GradientSink {
  real* values;
  bool add;
};

inline namespace LAMINA_SCALAR {

class Tensor {
 public:
  Tensor() = default;  ///< an empty handle, with which nothing can be computed; `defined()` is false
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  /// What was moved from is an empty handle.
  Tensor(Tensor&& other) noexcept
      : storage_(std::move(other.storage_)),
        offset_(std::exchange(other.offset_, 0)),
        shape_(std::exchange(other.shape_, Shape::none())) {}
  Tensor& operator=(Tensor&& other) noexcept {
    storage_ = std::move(other.storage_);
    offset_ = std::exchange(other.offset_, 0);
    shape_ = std::exchange(other.shape_, Shape::none());
    return *this;
  }
  ~Tensor() = default;
  /// Values are undefined until written. Throws Error for more than Shape::max_size elements, and a std::bad_alloc that
  /// names the shape where memory does not hold it.
  explicit Tensor(Shape shape);

  static Tensor full(Shape shape, real value);
  static Tensor zeros(Shape shape) { return full(shape, 0); }
  static Tensor ones(Shape shape) { return full(shape, 1); }
  /// A copy of `values`; throws Error when their number does not fit the shape.
  static Tensor from(Shape shape, std::span<const real> values);
  static Tensor from(Shape shape, std::initializer_list<real> values) {
    return from(shape, std::span<const real>(values.begin(), values.size()));
  }

  bool defined() const { return storage_.get() != nullptr; }
  const Shape& shape() const { return shape_; }
  size_t size() const { return shape_.size(); }
  size_t rows() const { return shape_.rows(); }
  size_t columns() const { return shape_.columns(); }

  // Writes through these between the forward and the backward pass are detected: where an op on the tape
  // holds the tensor and its values have changed, backward() throws Error, also when they were written through
  // detach(). (Writes through pointers that were taken before the forward pass are not found, nor are those into
  // a tensor that a tape of another thread has recorded since.) Empty handles throw Error, but for x[i] of a const handle
  // where LAMINA_CHECK_INDEX is 0.
  real* data() {
    if (!defined() || storage_->recording.load(std::memory_order_relaxed) != 0) [[unlikely]]
      detail::before_writing(storage_.get(), offset_, shape_);
    return storage_->values + offset_;
  }
  const real* data() const {
    if (!defined()) [[unlikely]]
      detail::fail_empty("tensor");
    return storage_->values + offset_;
  }
  std::span<real> values() { return {data(), size()}; }
  std::span<const real> values() const { return {data(), size()}; }
  /// One element, counted row by row. Throws Error beyond the last, where LAMINA_CHECK_INDEX is not 0: in
  /// programs that are compiled without NDEBUG.
  LAMINA_ELEMENT_ACCESS real& operator[](size_t i) {
    if constexpr (LAMINA_CHECK_INDEX != 0)
      if (i >= size()) detail::fail_index(i, shape_);
    return data()[i];
  }
  LAMINA_ELEMENT_ACCESS real operator[](size_t i) const {
    if constexpr (LAMINA_CHECK_INDEX != 0) {
      if (i >= size()) detail::fail_index(i, shape_);
      return data()[i];
    }
    return storage_->values[offset_ + i];
  }
  /// One element by its index along each axis: x.at(i, j) of a matrix. Throws Error when there are not as
  /// many as axes and, where LAMINA_CHECK_INDEX is not 0, for one that is beyond its axis.
  template <class... Indices>
  LAMINA_ELEMENT_ACCESS real& at(Indices... indices) {
    return data()[place_of({static_cast<size_t>(indices)...})];
  }
  template <class... Indices>
  LAMINA_ELEMENT_ACCESS real at(Indices... indices) const {
    return data()[place_of({static_cast<size_t>(indices)...})];
  }
  /// The values for ops that write on purpose to a tensor that a tape holds: one whose values are no longer
  /// needed, or that they fill part by part.
  real* data_unwatched() { return storage_->values + offset_; }
  const real* data_unwatched() const { return storage_->values + offset_; }
  /// The value of a tensor with one element.
  real item() const;

  /// View with another shape of the same size.
  Tensor reshape(Shape shape) const;
  /// View of [begin, end) along the leading axis.
  Tensor slice(size_t begin, size_t end) const;
  /// View of one index of the leading axis, which is dropped: x[t] of a sequence [T x B x H].
  Tensor step(size_t index) const;
  /// The same values, in the same place, without history: no gradient flows through (truncated
  /// back-propagation), and what is written to one is written to both.
  Tensor detach() const;
  /// A copy with its own buffer and no history.
  Tensor copy() const;

  /// Marks a leaf whose gradient is wanted; returns itself. Throws Error for a frozen parameter, and for a constant that an
  /// op on a tape of this thread has read.
  Tensor& require_gradient();
  bool needs_gradient() const { return defined() && storage_->needs_gradient; }

  /// dL/dx as accumulated so far, or nullptr when nothing has arrived.
  const real* gradient_data() const {
    return defined() && storage_->gradient_written ? storage_->gradient + offset_ : nullptr;
  }
  /// A copy of dL/dx; zeros when nothing has arrived.
  Tensor gradient() const;
  /// Where to put a contribution to dL/dx. Ask only when you will write every element.
  GradientSink gradient_sink() const;
  /// Turns the buffer of the values, which are no longer needed, into the gradient's; what the caller writes
  /// there is the first contribution. For a result that only the calling op reads; it must be a whole tensor,
  /// without a gradient yet.
  real* gradient_in_place();
  /// From here on the gradient is zero (its memory is kept); of a view that of its part.
  void clear_gradient();

  detail::Storage* storage() const { return storage_.get(); }

 private:
  template <size_t count>
  LAMINA_ELEMENT_ACCESS size_t place_of(const size_t (&indices)[count]) const {
    if (shape_.rank() != static_cast<int>(count)) detail::fail_indices(indices, shape_);
    size_t place = 0;
    for (size_t axis = 0; axis < count; ++axis) {
      const size_t size = shape_[static_cast<int>(axis)];
      if constexpr (LAMINA_CHECK_INDEX != 0)
        if (indices[axis] >= size) detail::fail_indices(indices, shape_);
      place = place * size + indices[axis];
    }
    return place;
  }

  detail::StorageHandle storage_;
  size_t offset_ = 0;
  Shape shape_ = Shape::none();
};

/// Where a pass that computes several gradients at once writes one of them: dL/dx, or scratch memory where x
/// needs no gradient; a null sink for an empty handle. (A gradient that is computed alone is skipped instead
/// where x does not need it.) Where one tensor is given for two inputs, the later target has memory of its own, which is
/// added to dL/dx at the end of its life: the order of writes does not matter.
class GradientTarget {
 public:
  explicit GradientTarget(const Tensor& x);
  ~GradientTarget();
  GradientTarget(const GradientTarget&) = delete;
  GradientTarget& operator=(const GradientTarget&) = delete;
  const GradientSink& sink() const { return sink_; }
  GradientSink at(size_t offset) const { return {sink_.values + offset, sink_.add}; }

 private:
  Tensor x_, spare_;
  GradientSink sink_{nullptr, false};
  GradientTarget* older_;  ///< the next one of this thread
};

}  // namespace LAMINA_SCALAR

}  // namespace lamina
