#pragma once
// A tensor seen from one of its axes: what ops that work along an axis share.

#include <algorithm>

#include "core/ops/reduce/axis_options.h"
#include "core/tensor.h"
#include "core/threads/parallel.h"

namespace lamina {

/// The shape without an axis (negative: from the end), or with size 1 along it.
Shape reduced(const Shape& shape, int axis, const AxisOptions& options);

/// [outer x along x inner]: the axes before it, the axis, and those after it.
struct AxisView {
  size_t outer = 1, along = 1, inner = 1;

  AxisView(size_t before, size_t size, size_t behind) : outer(before), along(size), inner(behind) {}
  /// Of any axis, negative ones counted from the end. Throws Error naming the op when there is no such axis.
  AxisView(const char* op, const Shape& shape, int axis);
};

/// The same, and Error when the tensor is an empty handle or has size 0 along the axis.
AxisView view_with_some(const char* op, const Tensor& x, int axis);

/// The columns of each of the `outer` matrices [along x inner], in groups, and on several threads when there
/// are many: body(o, begin, end) for columns begin to end, at most columns_together, of matrix o.
inline constexpr size_t columns_together = 256;
template <class Body>
void for_each_columns(const AxisView& view, const Body& body) {
  parallel_for(
      view.outer * view.inner, grain_of(view.along),
      [&](size_t first, size_t last) {
        while (first < last) {
          const size_t o = first / view.inner, begin = first % view.inner;
          const size_t end = std::min({view.inner, begin + (last - first), begin + columns_together});
          body(o, begin, end);
          first += end - begin;
        }
      },
      16);
}

/// to[o, i] = the sum of from[o, k, i] over k, or adds it to what is there. Pairwise and in an order that depends on
/// the view alone; the sum of nothing is 0.
void sum_along(const AxisView& view, const real* from, real* to, bool add);

}  // namespace lamina
