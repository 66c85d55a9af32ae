#pragma once
// How a pen's path is described: a few points that it passes through, joined by smooth curves.

#include <cstddef>
#include <vector>

namespace lamina {

/// A point the pen passes through: smoothly, or turning abruptly at a corner.
struct StrokePoint {
  float x, y;
  bool corner = false;
};

using Stroke = std::vector<StrokePoint>;  ///< from pen down to pen up
using Glyph = std::vector<Stroke>;        ///< one character, in one way of writing it

struct CurvePoint {
  float x, y;
};

/// The curve between points `span` and `span` + 1 of a stroke, at t in [0, 1]: the cubic of Catmull and Rom,
/// whose direction at a point is that from its neighbour before to its neighbour after. At a corner and at an
/// end there is no other neighbour.
CurvePoint curve_at(const Stroke& stroke, std::size_t span, float t);

}  // namespace lamina
