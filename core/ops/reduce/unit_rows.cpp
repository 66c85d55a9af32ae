#include "core/ops/reduce/unit_rows.h"

#include <limits>

#include "core/math/norm2.h"
#include "core/math/sum.h"
#include "core/ops/elementwise.h"
#include "core/ops/map.h"
#include "core/ops/reduce/reduce.h"

namespace lamina {

/// y_rc = x_rc / l_r with l_r = norm2(x_r);  dx_rc = (dy_rc - y_rc sum_k dy_rk y_rk) / l_r
Tensor unit_rows(const Tensor& x) {
  require_values("unit_rows", x);
  if (x.shape().rank() == 0) fail("unit_rows: a scalar has no rows");
  const size_t rows = x.rows(), columns = x.columns(), grain = grain_of(columns);
  Tensor y(x.shape()), lengths({rows});
  parallel_for(
      rows, grain, [=, in = x.data(), out = y.data(), kept = lengths.data()](size_t begin, size_t end) {
        for (size_t r = begin; r < end; ++r) {
          const real* const from = in + r * columns;
          real* const to = out + r * columns;
          const real squares = sum_over(columns, [=](size_t c) { return from[c] * from[c]; });
          const real length = norm2(squares, columns, [=](size_t c) { return from[c]; });
          kept[r] = length == 0 ? std::numeric_limits<real>::infinity() : length;  // 0 / infinity is 0
          const real divisor = kept[r];
#pragma omp simd
          for (size_t c = 0; c < columns; ++c) to[c] = from[c] / divisor;
        }
      });
  return record("unit_rows", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    parallel_for(
        rows, grain,
        [=, out = y.data(), dout = y.gradient_data(), kept = lengths.data()](size_t begin, size_t end) {
          for (size_t r = begin; r < end; ++r) {
            const real *const to = out + r * columns, *const dto = dout + r * columns;
            real* const dx = sink.values + r * columns;
            const real inner = sum_over(columns, [=](size_t c) { return dto[c] * to[c]; }), length = kept[r];
#pragma omp simd
            for (size_t c = 0; c < columns; ++c)
              dx[c] = (sink.add ? dx[c] : 0) + (dto[c] - to[c] * inner) / length;
          }
        });
  });
}

Tensor composed::unit_rows(const Tensor& x) { return x / sqrt(sum_columns(square(x))); }

}  // namespace lamina
