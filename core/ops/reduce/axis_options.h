#pragma once
// The options of ops that reduce an axis (core/ops/reduce/reduce_axis.h, core/ops/reduce/softmax_axis.h).

namespace lamina {

/// The shape of the result of an op that reduces an axis.
struct AxisOptions {
  bool keep = false;  ///< the axis stays, with size 1, for broadcasting: x - mean(x, 1, {.keep = true})
};

}  // namespace lamina
