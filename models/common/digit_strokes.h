#pragma once
// How the ten digits are written: for each a few variants, each variant as strokes of the pen.

#include <vector>

namespace lamina {

/// A point the pen passes through. The digit stands in the box |x| <= 0.3, |y| <= 0.5, x to the right and y
/// down. The pen goes smoothly through ordinary points and turns abruptly at corners.
struct StrokePoint {
  float x, y;
  bool corner = false;
};

using Stroke = std::vector<StrokePoint>;
using Glyph = std::vector<Stroke>;

/// The variants of a digit from 0 to 9.
const std::vector<Glyph>& glyphs_of(int digit);

}  // namespace lamina
