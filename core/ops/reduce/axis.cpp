#include "core/ops/reduce/axis.h"

#include "core/math/sum.h"

namespace lamina {

Shape reduced(const Shape& shape, int axis, const AxisOptions& options) {
  if (options.keep) return shape.with(axis, 1);
  static const Shape of_rank[] = {{}, {1}, {1, 1}, {1, 1, 1}};
  const int dropped = axis < 0 ? axis + shape.rank() : axis;
  Shape result = of_rank[shape.rank() - 1];
  for (int i = 0; i < result.rank(); ++i) result = result.with(i, shape[i < dropped ? i : i + 1]);
  return result;
}

AxisView::AxisView(const char* op, const Shape& shape, int axis) {
  const int position = axis < 0 ? axis + shape.rank() : axis;
  if (position < 0 || position >= shape.rank()) fail(op, ": ", shape, " has no axis ", axis);
  along = shape[position];
  for (int i = 0; i < position; ++i) outer *= shape[i];
  for (int i = position + 1; i < shape.rank(); ++i) inner *= shape[i];
}

AxisView view_with_some(const char* op, const Tensor& x, int axis) {
  require_values(op, x);
  const AxisView view(op, x.shape(), axis);
  if (view.along == 0) fail(op, ": ", x.shape(), " has nothing along axis ", axis);
  return view;
}

void sum_along(const AxisView& view, const real* from, real* to, bool add) {
  const size_t along = view.along, inner = view.inner;
  for_each_columns(view, [=](size_t o, size_t begin, size_t end) {
    const real* const matrix = from + o * along * inner;
    real* const sums = to + o * inner;
    const auto row = [=](size_t k) { return [values = matrix + k * inner](size_t i) { return values[i]; }; };
    if (inner == 1)
      *sums = (add ? *sums : 0) + sum_over(along, [=](size_t k) { return matrix[k]; });
    else if (add)
      add_column_sums(along, begin, end, sums, row);
    else
      column_sums(along, begin, end, sums, row);
  });
}

}  // namespace lamina
