#include "core/ops/axis.h"

#include <algorithm>

#include "core/parallel.h"
#include "core/sum.h"

namespace lamina {

AxisView::AxisView(const char* op, const Shape& shape, int axis) {
  const int position = axis < 0 ? axis + shape.rank() : axis;
  if (position < 0 || position >= shape.rank()) fail(op, ": ", shape, " has no axis ", axis);
  along = shape[position];
  for (int i = 0; i < position; ++i) outer *= shape[i];
  for (int i = position + 1; i < shape.rank(); ++i) inner *= shape[i];
}

namespace {

/// The sums of rows that lie one behind the other.
void sum_last_axis(const AxisView& view, const real* from, real* to, bool add) {
  parallel_for(view.outer, elementwise_grain / (view.along + 1) + 1, [=](size_t begin, size_t end) {
    for (size_t o = begin; o < end; ++o) {
      const real* const row = from + o * view.along;
      to[o] = (add ? to[o] : 0) + sum_over(view.along, [=](size_t k) { return row[k]; });
    }
  });
}

}  // namespace

void sum_along(const AxisView& view, const real* from, real* to, bool add) {
  if (view.inner == 1) return sum_last_axis(view, from, to, add);
  // Threads take columns of one or more matrices [along x inner], so that the order of each sum is fixed.
  const size_t along = view.along, inner = view.inner;
  parallel_for(
      view.outer * inner, elementwise_grain / (along + 1) + 1,
      [=](size_t begin, size_t end) {
        for (size_t first = begin; first < end;) {
          const size_t o = first / inner, c = first % inner, last = std::min(inner, c + (end - first));
          const auto row = [=, matrix = from + o * along * inner](size_t k) {
            return [values = matrix + k * inner](size_t i) { return values[i]; };
          };
          if (add)
            add_column_sums(along, c, last, to + o * inner, row);
          else
            column_sums(along, c, last, to + o * inner, row);
          first += last - c;
        }
      },
      16);
}

}  // namespace lamina
