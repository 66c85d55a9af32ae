#pragma once
// The options of ops that take an axis together (core/ops/reduce_axis.h, core/ops/softmax_axis.h).

namespace lamina {

/// What the result of an op that takes an axis together looks like.
struct AxisOptions {
  bool keep =
      false;  ///< the axis stays, with size 1, so that the result meets the operand again: x - mean(x, 1, {.keep = true})
};

}  // namespace lamina
