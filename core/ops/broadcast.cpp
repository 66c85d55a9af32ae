#include "core/ops/broadcast.h"

#include "core/ops/reduce/axis.h"

namespace lamina {

namespace {

/// The size along an axis counted from the right, 0 being the last; 1 where there is none.
size_t from_right(const Shape& shape, int axis) {
  return axis < shape.rank() ? shape[shape.rank() - 1 - axis] : 1;
}

/// Whether `column` has one element for each row, or each element, of the other, which has more or fewer axes.
bool is_column_of(const Shape& column, const Shape& other) {
  if (column.rank() == 0 || column.columns() != 1 || column.rank() == other.rank()) return false;
  bool without_last_axis = column.rank() == other.rank() + 1;
  for (int axis = 0; axis < other.rank(); ++axis)
    without_last_axis = without_last_axis && column[axis] == other[axis];
  const bool a_vector = other.rank() == 1 && other.size() == column.rows();
  return without_last_axis || a_vector || column.rows() == other.rows();
}

[[noreturn]] void fail_to_fit(const char* op, const Shape& a, const Shape& b) {
  int axis = 0;
  while (from_right(a, axis) == from_right(b, axis) || from_right(a, axis) == 1 || from_right(b, axis) == 1)
    ++axis;
  const bool one_per_row = b.rank() == 1 && b.size() == a.rows();
  fail(op, ": ", a, " and ", b, ": the sizes ", from_right(a, axis), " and ", from_right(b, axis),
       " of axis ", -1 - axis, ", counted from the right, must be equal or one of them 1",
       one_per_row ? text("; one number for each row is a column [", b.size(), " x 1]") : "");
}

/// The shape of the result.
Shape fitted(const char* op, const Shape& a, const Shape& b) {
  if (b.size() == 1) return a;
  if (a.size() == 1) return b;
  const Shape shape = numpy_shape(a, b);
  if (shape == Shape::none()) fail_to_fit(op, a, b);
  const bool surprising =
      (is_column_of(b, a) && shape.size() != a.size()) || (is_column_of(a, b) && shape.size() != b.size());
  if (surprising)
    fail(op, ": ", a, " and ", b, " would be paired across to ", shape,
         "; reshape one of them so that both have the same number of axes");
  return shape;
}

}  // namespace

Shape numpy_shape(const Shape& a, const Shape& b) {
  Shape shape = a.rank() > b.rank() ? a : b;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const size_t of_a = from_right(a, axis), of_b = from_right(b, axis);
    if (of_a != of_b && of_a != 1 && of_b != 1) return Shape::none();
    shape = shape.with(-1 - axis, of_a == 1 ? of_b : of_a);
  }
  return shape;
}

Broadcast::Broadcast(const char* op, const Shape& a, const Shape& b) : shape(fitted(op, a, b)), b_steps{} {
  size_t last = Shape::max_rank;  // the joined axis being extended; none yet
  size_t a_step = 1, b_step = 1;
  bool a_went = false, b_went = false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const size_t size = from_right(shape, axis);
    if (size == 1) continue;
    const bool a_goes = from_right(a, axis) == size, b_goes = from_right(b, axis) == size;
    if (last == Shape::max_rank || a_goes != a_went || b_goes != b_went) {
      --last;
      a_steps[last] = a_goes ? a_step : 0;
      b_steps[last] = b_goes ? b_step : 0;
      a_went = a_goes;
      b_went = b_goes;
    }
    sizes[last] *= size;
    if (a_goes) a_step *= size;
    if (b_goes) b_step *= size;
  }
}

void detail::contribute_sums(const Tensor& x, const Broadcast& pairs, const Broadcast::Axes& steps,
                             const Tensor& each) {
  Tensor left = each;
  Broadcast::Axes sizes = pairs.sizes;
  const auto product = [&](size_t begin, size_t end) {
    size_t result = 1;
    for (size_t axis = begin; axis < end; ++axis) result *= sizes[axis];
    return result;
  };
  // The outer axes first, along which whole lines are added.
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (steps[axis] != 0 || sizes[axis] == 1) continue;
    const AxisView view(product(0, axis), sizes[axis], product(axis + 1, sizes.size()));
    sizes[axis] = 1;
    Tensor sums({view.outer * view.inner});
    sum_along(view, left.data(), sums.data(), false);
    left = sums;
  }
  contribute(x, [from = left.data()](size_t i) { return from[i]; });
}

/// y_i = x_j;  dx_j = the sum of dy_i over all i that met x_j
Tensor repeated(const char* op, const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const Broadcast pairs(op, x.shape(), shape);
  Tensor y(shape);
  for_each_position(pairs, [from = x.data(), to = y.data()](size_t i, size_t j, size_t) { to[i] = from[j]; });
  return record(op, y, {x}, [=] {
    contribute_pairs(x, pairs, pairs.a_steps,
                     [dy = y.gradient_data()](size_t i, size_t, size_t) { return dy[i]; });
  });
}

}  // namespace lamina
