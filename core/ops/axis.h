#pragma once
// A tensor seen from one of its axes, and sums along it.

#include "core/shape.h"

namespace lamina {

/// [outer x along x inner]: what lies before the axis, the axis, and what lies behind it.
struct AxisView {
  size_t outer = 1, along = 1, inner = 1;

  AxisView(size_t before, size_t size, size_t behind) : outer(before), along(size), inner(behind) {}
  /// Of any axis, negative ones counted from the end. Throws Error naming the op when there is no such axis.
  AxisView(const char* op, const Shape& shape, int axis);
};

/// to[o, i] = the sum of from[o, k, i] over k, or adds it to what is there. Pairwise and in an order that depends on
/// the view alone; the sum of nothing is 0.
void sum_along(const AxisView& view, const real* from, real* to, bool add);

}  // namespace lamina
