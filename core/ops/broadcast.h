#pragma once
// Which elements of two tensors meet in an elementwise op: NumPy's rule, without its surprises.
//
// The sizes of both shapes are compared from the right. Along each axis they must be equal, or one of them 1 (or
// missing): that operand is repeated. The result has the larger size along each axis:
//
//   [8 x 1 x 6] and [7 x 1]    give [8 x 7 x 6]
//
// Two rules differ from NumPy's. A tensor of size 1 is a number whatever its rank, so the result has the shape of the
// other operand. And where a column, [... x 1], has one element for each element or row of the other operand but
// would be paired across it, as in predictions [N x 1] and targets [N] giving [N x N], the pair is an Error.

#include <algorithm>
#include <array>

#include "core/ops/map.h"

namespace lamina {

/// How two operands meet.
struct Broadcast {
  using Axes = std::array<size_t, Shape::max_rank>;

  Shape shape;              ///< of the result
  Axes sizes{1, 1, 1, 1};   ///< its axes; neighbours where both operands advance or repeat are joined
  Axes a_steps{}, b_steps;  ///< an operand's strides along them: 0 where it is repeated

  /// Throws Error naming the op and both shapes when they do not fit.
  Broadcast(const char* op, const Shape& a, const Shape& b);

  /// Where a line, a run along the last of the joined axes, starts in an operand.
  size_t start(size_t line, const Axes& steps) const {
    const size_t outer = line / sizes[2];
    return line % sizes[2] * steps[2] + outer % sizes[1] * steps[1] + outer / sizes[1] * steps[0];
  }
};

/// The shape that NumPy's rule gives, or Shape::none() where it gives none.
Shape numpy_shape(const Shape& a, const Shape& b);

namespace detail {

template <bool a_goes, bool b_goes, class Element>
void for_each_position_in_lines(const Broadcast& pairs, const Element& element) {
  const size_t length = pairs.sizes[3];
  parallel_for(
      pairs.shape.size(), elementwise_grain,
      [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end;) {
          const size_t line = i / length, c = i % length, count = std::min(length - c, end - i);
          const size_t j = pairs.start(line, pairs.a_steps) + (a_goes ? c : 0);
          const size_t k = pairs.start(line, pairs.b_steps) + (b_goes ? c : 0);
#pragma omp simd
          for (size_t n = 0; n < count; ++n) element(i + n, a_goes ? j + n : j, b_goes ? k + n : k);
          i += count;
        }
      },
      16);
}

/// dL/dx += the sums of `each`, which has the result's shape, over all elements that met the same element of x.
void contribute_sums(const Tensor& x, const Broadcast& pairs, const Broadcast::Axes& steps,
                     const Tensor& each);

}  // namespace detail

/// element(i, j, k) for each element i of the result and the elements j of a and k of b that meet there.
template <class Element>
void for_each_position(const Broadcast& pairs, const Element& element) {
  if (pairs.a_steps[3] == 0)
    detail::for_each_position_in_lines<false, true>(pairs, element);
  else if (pairs.b_steps[3] == 0)
    detail::for_each_position_in_lines<true, false>(pairs, element);
  else
    detail::for_each_position_in_lines<true, true>(pairs, element);
}

/// dL/dx[j] += the sum of value(i, j, k) over the elements i of the result that met x[j], if x needs a
/// gradient; `steps` are the strides of x. Pairwise, in an order that depends on the shapes alone.
template <class Value>
void contribute_pairs(const Tensor& x, const Broadcast& pairs, const Broadcast::Axes& steps,
                      const Value& value) {
  if (!x.needs_gradient()) return;
  if (x.size() == pairs.shape.size()) {  // not repeated: x[i] meets element i alone
    const GradientSink sink = x.gradient_sink();
    for_each_position(pairs, [=, dx = sink.values](size_t i, size_t j, size_t k) {
      dx[i] = (sink.add ? dx[i] : 0) + value(i, j, k);
    });
    return;
  }
  Tensor each(pairs.shape);
  for_each_position(pairs, [=, to = each.data()](size_t i, size_t j, size_t k) { to[i] = value(i, j, k); });
  detail::contribute_sums(x, pairs, steps, each);
}

/// x repeated to fill `shape`, recorded as the op; x itself when that is its shape.
Tensor repeated(const char* op, const Tensor& x, const Shape& shape);

}  // namespace lamina
