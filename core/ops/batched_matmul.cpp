#include "core/ops/batched_matmul.h"

#include <algorithm>

#include "core/gemm/small_product.h"
#include "core/ops/map.h"

namespace lamina::detail {

namespace {

/// From this many multiply-adds on (some 0.1 ms) each product is split over the threads; smaller ones run
/// whole, each on one thread.
constexpr double large_product = 8e6;
/// Products that are added up one after another; longer sums are split in halves, which keeps their rounding
/// small.
constexpr size_t products_in_sequence = 64;

/// One operand: its matrices as stored, and how far apart those of successive items are. There are at most two
/// leading axes; along one that is broadcast the distance is 0.
struct Operand {
  size_t rows, columns;
  Transpose op;
  size_t outer_step = 0, inner_step = 0;

  Operand(const Tensor& x, Transpose transpose) : rows(x.shape()[-2]), columns(x.shape()[-1]), op(transpose) {
    const size_t inner = leading(x.shape(), 0), outer = leading(x.shape(), 1);
    if (inner != 1) inner_step = rows * columns;
    if (outer != 1) outer_step = rows * columns * inner;
  }

  /// The size of a leading axis counted from the matrix; 1 where there is none.
  static size_t leading(const Shape& shape, int axis) {
    return shape.rank() > axis + 2 ? shape[-3 - axis] : 1;
  }

  size_t op_rows() const { return op == Transpose::yes ? columns : rows; }
  size_t op_columns() const { return op == Transpose::yes ? rows : columns; }
};

/// The leading axes of the result.
struct Items {
  size_t outer, inner;
  size_t count() const { return outer * inner; }
  size_t offset(const Operand& x, size_t i) const {
    return i / inner * x.outer_step + i % inner * x.inner_step;
  }
};

size_t common_size(const Tensor& a, const Tensor& b, int axis) {
  const size_t of_a = Operand::leading(a.shape(), axis), of_b = Operand::leading(b.shape(), axis);
  if (of_a != of_b && of_a != 1 && of_b != 1)
    fail("matmul: ", a.shape(), " * ", b.shape(), ": leading sizes ", of_a, " and ", of_b,
         " differ, and neither is 1");
  return of_a == 1 ? of_b : of_a;
}

/// product(i) for i < count; each takes `work` multiply-adds.
template <class Body>
void for_each_product(size_t count, double work, const Body& product) {
  if (work >= large_product) {
    for (size_t i = 0; i < count; ++i) product(i);
    return;
  }
  constexpr auto worth_a_share = static_cast<size_t>(large_product / 20);
  parallel_for(count, grain_of(static_cast<size_t>(work), worth_a_share), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) product(i);
  });
}

/// to (+)= term(0) + ... + term(count - 1), where term(i, to, add) writes or adds product number i.
template <class Term>
void sum_products(size_t first, size_t count, size_t size, real* to, bool add, const Term& term) {
  if (count == 0 && !add) std::fill_n(to, size, real{0});
  if (count <= products_in_sequence) {
    for (size_t i = 0; i < count; ++i) term(first + i, to, add || i > 0);
    return;
  }
  const size_t half = count / 2;
  Tensor rest(Shape{size});
  sum_products(first, half, size, to, add, term);
  sum_products(first + half, count - half, size, rest.data(), false, term);
  for_each_index(size, [to, from = rest.data()](size_t i) { to[i] += from[i]; });
}

/// dL/dx += the sum over all items of the product that term(i, to, add) writes or adds. Each matrix of x
/// collects those of the items that read it, in the items' order: first along the axis that they share, then
/// along the next one.
template <class Term>
void contribute_products(const Tensor& x, const Operand& of_x, const Items& items, double work,
                         const Term& term) {
  if (!x.needs_gradient()) return;
  const GradientSink sink = x.gradient_sink();
  const size_t size = of_x.rows * of_x.columns;
  const bool inner_shared = of_x.inner_step == 0, outer_shared = of_x.outer_step == 0;
  const size_t inner_own = inner_shared ? 1 : items.inner, outer_own = outer_shared ? 1 : items.outer;
  const size_t inner_met = inner_shared ? items.inner : 1, outer_met = outer_shared ? items.outer : 1;
  for_each_product(outer_own * inner_own, work * static_cast<double>(inner_met * outer_met), [&](size_t own) {
    const size_t outer = own / inner_own, inner = own % inner_own;
    sum_products(0, inner_met * outer_met, size, sink.values + own * size, sink.add,
                 [&](size_t met, real* to, bool add) {
                   const size_t o = outer + met / inner_met, i = inner + met % inner_met;
                   term(o * items.inner + i, to, add);
                 });
  });
}

}  // namespace

/// C = A B;  dA = dC B^T,  dB = A^T dC, and dA^T = B dC^T, dB^T = dC^T A where an operand is stored
/// transposed; summed over the items that read the same matrix.
Tensor batched_matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  const Operand of_a(a, options.a), of_b(b, options.b);
  const size_t m = of_a.op_rows(), k = of_a.op_columns(), n = of_b.op_columns();
  const Items items = {common_size(a, b, 1), common_size(a, b, 0)};
  const int rank = std::max(a.shape().rank(), b.shape().rank());
  const Shape shape = rank == 4 ? Shape{items.outer, items.inner, m, n} : Shape{items.inner, m, n};
  const double work = static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);

  Tensor c(shape);
  const SmallProduct product(m, n, k, of_a.op, of_a.columns, of_b.op, of_b.columns);
  for_each_product(items.count(), work, [&, x = a.data(), y = b.data(), z = c.data()](size_t i) {
    product(x + items.offset(of_a, i), y + items.offset(of_b, i), z + i * m * n, false);
  });

  return record({"matmul", OpKind::product}, c, {a, b}, [=] {
    const real *const x = a.data(), *const y = b.data(), *const dc = c.gradient_data();
    const bool a_stored_transposed = of_a.op == Transpose::yes,
               b_stored_transposed = of_b.op == Transpose::yes;
    const auto for_a = a_stored_transposed
                           ? SmallProduct(k, m, n, of_b.op, of_b.columns, Transpose::yes, n)
                           : SmallProduct(m, k, n, Transpose::no, n, flipped(of_b.op), of_b.columns);
    contribute_products(a, of_a, items, work, [&](size_t i, real* to, bool add) {
      const real *const dz = dc + i * m * n, *const right = y + items.offset(of_b, i);
      for_a(a_stored_transposed ? right : dz, a_stored_transposed ? dz : right, to, add);
    });
    const auto for_b = b_stored_transposed
                           ? SmallProduct(n, k, m, Transpose::yes, n, of_a.op, of_a.columns)
                           : SmallProduct(k, n, m, flipped(of_a.op), of_a.columns, Transpose::no, n);
    contribute_products(b, of_b, items, work, [&](size_t i, real* to, bool add) {
      const real *const dz = dc + i * m * n, *const left = x + items.offset(of_a, i);
      for_b(b_stored_transposed ? dz : left, b_stored_transposed ? left : dz, to, add);
    });
  });
}

}  // namespace lamina::detail
