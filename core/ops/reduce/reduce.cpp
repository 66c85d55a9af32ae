#include "core/ops/reduce/reduce.h"

#include <algorithm>

#include "core/math/sum.h"
#include "core/ops/elementwise.h"
#include "core/ops/map.h"
#include "core/threads/parallel.h"

namespace lamina {

namespace {

void require_some(const char* op, const Tensor& x, size_t count) {
  require_values(op, x);
  if (count == 0) fail(op, ": ", x.shape(), " has nothing to take the mean of");
}

/// The sum of term(i), i < count, in blocks that the threads share out. Its order depends on `count` alone.
template <class Term>
Tensor sum_of_blocks(size_t count, const Term& term) {
  constexpr size_t block = elementwise_grain;
  const size_t blocks = count / block + 1;
  Tensor sums({blocks});
  parallel_for(blocks, 1, [&, to = sums.data()](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) {
      const size_t first = b * block;
      to[b] = sum_over(std::min(block, count - first), [&](size_t i) { return term(first + i); });
    }
  });
  return Tensor::full({}, sum_over(blocks, [from = sums.data()](size_t b) { return from[b]; }));
}

}  // namespace

/// y = sum_i x_i;  dx_i = dy
Tensor sum(const Tensor& x) {
  require_values("sum", x);
  const Tensor y = sum_of_blocks(x.size(), [in = x.data()](size_t i) { return in[i]; });
  return record("sum", y, {x}, [x, y] {
    const real dy = *y.gradient_data();
    contribute(x, [dy](size_t) { return dy; });
  });
}

Tensor mean(const Tensor& x) {
  require_some("mean", x, x.size());
  return sum(x) * (1 / static_cast<real>(x.size()));
}

/// y = 1/n sum_i x_i^2;  dx_i = 2/n x_i dy
Tensor mean_square(const Tensor& x) {
  require_some("mean_square", x, x.size());
  const real share = 1 / static_cast<real>(x.size());
  Tensor y = sum_of_blocks(x.size(), [in = x.data()](size_t i) { return in[i] * in[i]; });
  y[0] *= share;
  return record("mean_square", y, {x}, [x, y, share] {
    const real factor = 2 * share * *y.gradient_data();
    contribute(x, [factor, in = x.data()](size_t i) { return factor * in[i]; });
  });
}

Tensor composed::mean_square(const Tensor& x) { return mean(square(x)); }

/// y_r = sum_c x_rc;  dx_rc = dy_r
Tensor sum_columns(const Tensor& x) {
  require_values("sum_columns", x);
  if (x.shape().rank() == 0) fail("sum_columns: a scalar has no last axis");
  const size_t rows = x.rows(), columns = x.columns();
  Tensor y(x.shape().with(-1, 1));
  for (size_t r = 0; r < rows; ++r)
    y[r] = sum_over(columns, [row = x.data() + r * columns](size_t c) { return row[c]; });
  return record("sum_columns", y, {x}, [x, y, columns] {
    const real* const dy = y.gradient_data();
    contribute(x, [=](size_t i) { return dy[i / columns]; });
  });
}

Tensor mean_columns(const Tensor& x) {
  require_some("mean_columns", x, x.columns());
  return sum_columns(x) * (1 / static_cast<real>(x.columns()));
}

/// y_c = sum_r x_rc;  dx_rc = dy_c
Tensor sum_rows(const Tensor& x) {
  require_values("sum_rows", x);
  if (x.shape().rank() == 0) fail("sum_rows: a scalar has no last axis");
  const size_t rows = x.rows(), columns = x.columns();
  Tensor y({columns});
  column_sums(rows, 0, columns, y.data(),
              [=, in = x.data()](size_t r) { return [row = in + r * columns](size_t c) { return row[c]; }; });
  return record("sum_rows", y, {x}, [x, y, columns] {
    const real* const dy = y.gradient_data();
    contribute(x, [=](size_t i) { return dy[i % columns]; });
  });
}

Tensor mean_rows(const Tensor& x) {
  require_some("mean_rows", x, x.rows());
  return sum_rows(x) * (1 / static_cast<real>(x.rows()));
}

}  // namespace lamina
