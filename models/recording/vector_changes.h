#pragma once
// How far an update moves and turns the weight vectors of a layer: the effective learning rate of
// Section 5.2.

#include <cstddef>
#include <vector>

#include "core/real.h"

namespace lamina {

/// How an update moved one weight vector.
struct VectorChange {
  double length = 0;           ///< before
  double relative_change = 0;  ///< norm2(after - before) / length; NaN for a vector of zeros
  double angle = 0;            ///< between before and after, in radians; NaN for a vector of zeros
};
/// For every column; `before` and `after` are [rows x columns].
std::vector<VectorChange> column_changes(size_t rows, size_t columns, const real* before, const real* after);

}  // namespace lamina
