#include <algorithm>
#include <array>

#include "core/ops/map.h"
#include "core/ops/shape/structure.h"

namespace lamina {

namespace {

using Axes = std::array<int, Shape::max_rank>;

/// A copy whose axes are those of the source in another order: the sizes of the copy's axes, and how far each
/// of them steps in the source. Axes of size 1 are dropped, axes that stay adjacent are joined, and axes of
/// size 1 are added in front to make four.
struct Reordering {
  std::array<size_t, Shape::max_rank> sizes{1, 1, 1, 1}, steps{},
      strides{1, 1, 1, 1};  ///< strides: in the copy

  Reordering(const Shape& source, const Axes& axes) {
    std::array<size_t, Shape::max_rank> source_steps{};
    size_t step = 1;
    for (int axis = source.rank() - 1; axis >= 0; --axis) {
      source_steps[static_cast<size_t>(axis)] = step;
      step *= source[axis];
    }
    size_t last = Shape::max_rank, stride = 1;
    for (int i = source.rank() - 1; i >= 0; --i) {
      const int axis = axes[static_cast<size_t>(i)];
      const size_t size = source[axis], stepped = source_steps[static_cast<size_t>(axis)];
      if (size == 1) continue;
      if (last == Shape::max_rank || stepped != steps[last] * sizes[last]) {
        --last;
        steps[last] = stepped;
        strides[last] = stride;
      }
      sizes[last] *= size;
      stride *= size;
    }
  }
};

template <bool add>
void put(real& to, real value) {
  to = add ? to + value : value;
}

/// Copies whole lines: the last axis is the same on both sides.
template <bool add>
void copy_lines(const Reordering& by, const real* from, real* to) {
  const size_t lines = by.sizes[0] * by.sizes[1] * by.sizes[2], length = by.sizes[3];
  parallel_for(lines, grain_of(length), [&](size_t begin, size_t end) {
    for (size_t line = begin; line < end; ++line) {
      const size_t outer = line / by.sizes[2];
      const real* const source = from + outer / by.sizes[1] * by.steps[0] +
                                 outer % by.sizes[1] * by.steps[1] + line % by.sizes[2] * by.steps[2];
      real* const target = to + line * length;
#pragma omp simd
      for (size_t i = 0; i < length; ++i) put<add>(target[i], source[i]);
    }
  });
}

/// Columns of 16 become rows: both sides are read and written by whole lines of the cache, a square of them
/// at a time.
constexpr size_t side = 16;

template <bool add>
[[gnu::always_inline]] inline void transpose_square(const real* from, size_t from_stride, size_t columns,
                                                    size_t rows, real* to, size_t to_stride) {
  real square[side][side];  // transposed
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) square[c][r] = from[r * from_stride + c];
  for (size_t c = 0; c < columns; ++c)
#pragma omp simd
    for (size_t r = 0; r < rows; ++r) put<add>(to[c * to_stride + r], square[c][r]);
}

template <bool add>
void transpose_strip(const real* from, size_t from_stride, size_t columns, size_t rows, real* to,
                     size_t to_stride) {
  size_t first = 0;
  if (columns == side)  // whole squares: loops of constant length
    for (; first + side <= rows; first += side)
      transpose_square<add>(from + first * from_stride, from_stride, side, side, to + first, to_stride);
  for (; first < rows; first += side)
    transpose_square<add>(from + first * from_stride, from_stride, columns, std::min(side, rows - first),
                          to + first, to_stride);
}

/// The last axis of the source becomes axis `crossed` of the copy.
template <bool add>
void copy_transposed(const Reordering& by, size_t crossed, const real* from, real* to) {
  // The others of the first three axes.
  const size_t outer = crossed == 0 ? 1 : 0, inner = crossed == 2 ? 1 : 2;
  const size_t width = by.sizes[crossed], strips = (width + side - 1) / side, rows = by.sizes[3];
  parallel_for(by.sizes[outer] * by.sizes[inner] * strips, grain_of(side * rows),
               [&](size_t begin, size_t end) {
                 for (size_t unit = begin; unit < end; ++unit) {
                   const size_t column = unit % strips * side, i = unit / strips % by.sizes[inner],
                                o = unit / strips / by.sizes[inner];
                   transpose_strip<add>(
                       from + o * by.steps[outer] + i * by.steps[inner] + column, by.steps[3],
                       std::min(side, width - column), rows,
                       to + o * by.strides[outer] + i * by.strides[inner] + column * by.strides[crossed],
                       by.strides[crossed]);
                 }
               });
}

template <bool add>
void copy_reordered(const Shape& source, const Axes& axes, const real* from, real* to) {
  if (source.size() == 0) return;
  const Reordering by(source, axes);
  if (by.steps[3] <= 1) return copy_lines<add>(by, from, to);  // 0: one number
  size_t crossed = 0;
  while (by.steps[crossed] != 1) ++crossed;
  copy_transposed<add>(by, crossed, from, to);
}

/// y[i_axes[0], i_axes[1], ...] = x[i_0, i_1, ...];  dx = dy with its axes back in their places
Tensor reordered(const char* op, const Tensor& x, const Axes& axes) {
  Shape shape = x.shape();
  Axes back{};
  for (int i = 0; i < shape.rank(); ++i) {
    const int axis = axes[static_cast<size_t>(i)];
    shape = shape.with(i, x.shape()[axis]);
    back[static_cast<size_t>(axis)] = i;
  }
  Tensor y(shape);
  copy_reordered<false>(x.shape(), axes, x.data(), y.data());
  return record(op, y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    const auto copy = sink.add ? copy_reordered<true> : copy_reordered<false>;
    copy(y.shape(), back, y.gradient_data(), sink.values);
  });
}

[[noreturn]] void fail_axes(const Shape& shape, std::span<const int> axes) {
  std::string list;
  for (const int axis : axes) list += text(list.empty() ? "" : ", ", axis);
  fail("permute: ", shape, " by {", list, "}: each of its axes must stand there once");
}

}  // namespace

Tensor permute(const Tensor& x, std::span<const int> axes) {
  require_values("permute", x);
  const int rank = x.shape().rank();
  if (axes.size() != static_cast<size_t>(rank)) fail_axes(x.shape(), axes);
  Axes order{};
  std::array<bool, Shape::max_rank> seen{};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || seen[static_cast<size_t>(axis)]) fail_axes(x.shape(), axes);
    seen[static_cast<size_t>(axis)] = true;
    order[i] = axis;
  }
  return reordered("permute", x, order);
}

Tensor permute(const Tensor& x, std::initializer_list<int> axes) {
  return permute(x, std::span<const int>(axes.begin(), axes.size()));
}

Tensor transpose(const Tensor& x) {
  const int rank = x.shape().rank();
  if (rank < 2) fail("transpose: a matrix is needed, this is ", x.shape());
  Axes axes{0, 1, 2, 3};
  std::swap(axes[static_cast<size_t>(rank - 2)], axes[static_cast<size_t>(rank - 1)]);
  return reordered("transpose", x, axes);
}

}  // namespace lamina
