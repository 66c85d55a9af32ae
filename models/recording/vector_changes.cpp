#include "models/recording/vector_changes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/threads/parallel.h"

namespace lamina {

namespace {
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
}

/// With d = after - before: its part along `before` has the length d . before / norm2(before), the rest
/// rotates the vector.
std::vector<VectorChange> column_changes(size_t rows, size_t columns, const real* before, const real* after) {
  std::vector<VectorChange> changes(columns);
  std::vector<double> squares(columns, 0), along(columns, 0), moved(columns, 0);
  parallel_for(
      columns, grain_of(rows),
      [&, ww = squares.data(), wd = along.data(), dd = moved.data()](size_t begin, size_t end) {
        for (size_t r = 0; r < rows; ++r)
#pragma omp simd
          for (size_t c = begin; c < end; ++c) {
            const auto w = static_cast<double>(before[r * columns + c]);
            const double d = static_cast<double>(after[r * columns + c]) - w;
            ww[c] += w * w;
            wd[c] += w * d;
            dd[c] += d * d;
          }
      },
      16);
  for (size_t c = 0; c < columns; ++c) {
    const double length = std::sqrt(squares[c]), parallel = along[c] / length;
    const double turned = std::sqrt(std::max(0.0, moved[c] - parallel * parallel));
    changes[c] = {.length = length,
                  .relative_change = length > 0 ? std::sqrt(moved[c]) / length : unknown,
                  .angle = length > 0 ? std::atan2(turned, length + parallel) : unknown};
  }
  return changes;
}

}  // namespace lamina
