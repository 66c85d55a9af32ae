#pragma once
// The sizes of a tensor: up to four dimensions, row-major, the last one contiguous in memory.

#include <array>
#include <initializer_list>
#include <ostream>

#include "core/error.h"
#include "core/real.h"

namespace lamina {

class Shape {
 public:
  static constexpr int max_rank = 4;
  /// Elements: far beyond any memory, and below any overflow in bytes.
  static constexpr size_t max_size = size_t{1} << 44;

  Shape() = default;  ///< rank 0: a scalar, size 1
  Shape(std::initializer_list<size_t> sizes) {
    if (sizes.size() > max_rank) fail("shape: ", sizes.size(), " dimensions; at most 4 are supported");
    for (const size_t size : sizes) sizes_[static_cast<size_t>(rank_++)] = size;
  }

  /// The shape of an empty handle: not a scalar, and printed as such.
  static Shape none() {
    Shape shape;
    shape.none_ = true;
    return shape;
  }

  int rank() const { return rank_; }

  /// Size along an axis; negative axes count from the end, -1 being the last.
  size_t operator[](int axis) const {
    const int from_start = axis < 0 ? axis + rank_ : axis;
    if (from_start < 0 || from_start >= rank_) fail("shape ", *this, ": has no axis ", axis);
    return sizes_[static_cast<size_t>(from_start)];
  }

  /// Whether no tensor can be this large: most likely a negative number made unsigned.
  bool too_large() const {
    size_t product = 1;
    bool above = false;
    for (int axis = 0; axis < rank_; ++axis)
      above = __builtin_mul_overflow(product, sizes_[static_cast<size_t>(axis)], &product) ||
              product > max_size || above;
    return above;
  }

  /// Number of elements; means nothing when the shape is too large.
  size_t size() const {
    size_t product = 1;
    for (int axis = 0; axis < rank_; ++axis) product *= sizes_[static_cast<size_t>(axis)];
    return product;
  }

  /// The tensor seen as a matrix: the last axis gives the columns, all others together the rows.
  size_t columns() const { return rank_ == 0 ? 1 : sizes_[static_cast<size_t>(rank_ - 1)]; }
  size_t rows() const {
    size_t product = 1;
    for (int axis = 0; axis + 1 < rank_; ++axis) product *= sizes_[static_cast<size_t>(axis)];
    return product;
  }

  /// The same shape with another size along one axis.
  Shape with(int axis, size_t size) const {
    (void)(*this)[axis];
    Shape changed = *this;
    changed.sizes_[static_cast<size_t>(axis < 0 ? axis + rank_ : axis)] = size;
    return changed;
  }

  bool operator==(const Shape&) const = default;

  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    if (shape.none_) return out << "[an empty handle]";
    if (shape.rank_ == 0) return out << "[scalar]";
    for (int axis = 0; axis < shape.rank_; ++axis)
      out << (axis == 0 ? "[" : " x ") << shape.sizes_[static_cast<size_t>(axis)];
    return out << "]";
  }

 private:
  std::array<size_t, max_rank> sizes_{};
  int rank_ = 0;
  bool none_ = false;
};

}  // namespace lamina
