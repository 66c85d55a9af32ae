#pragma once
// Whether weights that grow stop learning.
//
// Under normalization an update of rate r turns a weight vector w by about r G / norm2(w)^2, and makes it longer
// (equilibrium.h). For a constant G
//
//   norm2(w_t)^4 = norm2(w_0)^4 + 2 t (r G)^2      angle of update t = r G / norm2(w_t)^2
//
// so that a high rate ends at 1 / sqrt(2 t) radians an update, whatever the rate is.

#include <cstddef>
#include <vector>

#include "models/lab/lab.h"

namespace lamina::lab {

/// 1, 3, 10, 30, ... and `steps` itself.
std::vector<size_t> spread_updates(size_t steps);

Lab early_stopping();

}  // namespace lamina::lab
