#include "core/ops/shape/structure.h"

#include <algorithm>

#include "core/memory/cached_vector.h"
#include "core/ops/map.h"
#include "core/ops/reduce/axis.h"

namespace lamina {

namespace {

/// Copies (or adds) `outer` blocks of `length` numbers between places with different strides.
void move_blocks(size_t outer, size_t length, const real* from, size_t from_stride, real* to,
                 size_t to_stride, bool add) {
  for (size_t block = 0; block < outer; ++block) {
    const real* const source = from + block * from_stride;
    real* const target = to + block * to_stride;
    if (!add) {
      std::copy_n(source, length, target);
      continue;
    }
#pragma omp simd
    for (size_t i = 0; i < length; ++i) target[i] += source[i];
  }
}

}  // namespace

/// y = x[begin:end];  dx[begin:end] = dy, zero elsewhere
Tensor slice(const Tensor& x, int axis, size_t begin, size_t end) {
  const AxisView view("slice", x.shape(), axis);
  if (begin > end || end > view.along)
    fail("slice: [", begin, ", ", end, ") is outside axis ", axis, " of ", x.shape());
  Tensor y(x.shape().with(axis, end - begin));
  const size_t length = (end - begin) * view.inner, stride = view.along * view.inner;
  move_blocks(view.outer, length, x.data() + begin * view.inner, stride, y.data(), length, false);
  return record("slice", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    if (!sink.add) std::fill_n(sink.values, x.size(), real{0});
    move_blocks(view.outer, length, y.gradient_data(), length, sink.values + begin * view.inner, stride,
                true);
  });
}

/// y = [x_1, x_2, ...];  dx_i = its part of dy
Tensor concatenate(std::span<const Tensor> parts, int axis) {
  if (parts.empty()) fail("concatenate: needs at least one tensor");
  const Shape first = parts[0].shape();
  AxisView view("concatenate", first, axis);
  view.along = 0;
  for (const Tensor& part : parts) {
    if (part.shape().rank() != first.rank() || part.shape().with(axis, 0) != first.with(axis, 0))
      fail("concatenate: ", first, " and ", part.shape(), " differ in more than axis ", axis);
    view.along += part.shape()[axis];
  }
  Tensor y(first.with(axis, view.along));
  const size_t stride = view.along * view.inner;
  size_t position = 0;
  for (const Tensor& part : parts) {
    const size_t length = part.shape()[axis] * view.inner;
    move_blocks(view.outer, length, part.data(), length, y.data() + position, stride, false);
    position += length;
  }
  Tape* const tape = Tape::recording(parts);
  if (tape == nullptr) return y;
  CachedVector<Tensor> kept(parts.begin(), parts.end());
  tape->append("concatenate", std::span<const Tensor>(&y, 1), parts,
               [y, axis, view, stride, kept = std::move(kept)] {
                 size_t offset = 0;
                 for (const Tensor& part : kept) {
                   const size_t length = part.shape()[axis] * view.inner;
                   if (part.needs_gradient()) {
                     const GradientSink sink = part.gradient_sink();
                     move_blocks(view.outer, length, y.gradient_data() + offset, stride, sink.values, length,
                                 sink.add);
                   }
                   offset += length;
                 }
               });
  return y;
}

Tensor concatenate(std::initializer_list<Tensor> parts, int axis) {
  return concatenate(std::span<const Tensor>(parts.begin(), parts.size()), axis);
}

namespace {

/// A view with an axis of size 1 more, at `position`.
Tensor with_new_axis(const Tensor& x, int position) {
  static const Shape of_rank[] = {{}, {1}, {1, 1}, {1, 1, 1}, {1, 1, 1, 1}};
  const Shape& old = x.shape();
  Shape shape = of_rank[old.rank() + 1];
  for (int i = 0; i < old.rank(); ++i) shape = shape.with(i < position ? i : i + 1, old[i]);
  return x.reshape(shape);
}

}  // namespace

Tensor stack(std::span<const Tensor> parts, int axis) {
  if (parts.empty()) fail("stack: needs at least one tensor");
  const Shape& first = parts[0].shape();
  const int rank = first.rank() + 1, position = axis < 0 ? axis + rank : axis;
  if (rank > Shape::max_rank) fail("stack: parts ", first, " have 4 axes; a fifth is not supported");
  if (position < 0 || position >= rank) fail("stack: parts ", first, " make no axis ", axis);
  CachedVector<Tensor> views;
  views.reserve(parts.size());
  for (const Tensor& part : parts) {
    require_values("stack", part);
    if (part.shape() != first) fail("stack: ", first, " and ", part.shape(), " differ");
    views.push_back(with_new_axis(part, position));
  }
  return concatenate(views, position);
}

Tensor stack(std::initializer_list<Tensor> parts, int axis) {
  return stack(std::span<const Tensor>(parts.begin(), parts.size()), axis);
}

/// y_i = table[k_i];  dtable[k] = the sum of dy_i over all i with k_i = k
Tensor gather(const Tensor& table, std::span<const int> indices) {
  if (table.shape().rank() != 2) fail("gather: the table must be a matrix, it is ", table.shape());
  const size_t entries = table.rows(), width = table.columns();
  for (const int index : indices)
    if (index < 0 || static_cast<size_t>(index) >= entries)
      fail("gather: index ", index, " is outside the table of ", entries, " rows");
  Tensor y({indices.size(), width});
  parallel_for(indices.size(), grain_of(width),
               [=, from = table.data(), to = y.data()](size_t begin, size_t end) {
                 for (size_t i = begin; i < end; ++i)
                   std::copy_n(from + static_cast<size_t>(indices[i]) * width, width, to + i * width);
               });
  if (Tape::recording({&table, 1}) == nullptr) return y;
  return record("gather", y, {table}, [=, kept = CachedVector<int>(indices.begin(), indices.end())] {
    const GradientSink sink = table.gradient_sink();
    if (!sink.add) for_each_index(table.size(), [=, to = sink.values](size_t i) { to[i] = 0; });
    // Threads take columns, so that the order of each sum is fixed.
    parallel_for(
        width, grain_of(kept.size()),
        [&, dy = y.gradient_data()](size_t begin, size_t end) {
          for (size_t i = 0; i < kept.size(); ++i) {
            real* const target = sink.values + static_cast<size_t>(kept[i]) * width;
#pragma omp simd
            for (size_t d = begin; d < end; ++d) target[d] += dy[i * width + d];
          }
        },
        16);
  });
}

}  // namespace lamina
