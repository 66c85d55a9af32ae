#pragma once
// How the ten digits are written: for each a few variants, each variant as strokes of the pen.

#include "models/data/strokes.h"

namespace lamina {

/// The variants of a digit from 0 to 9. It lies in the box |x| <= 0.3, |y| <= 0.5, x to the right and y down.
const std::vector<Glyph>& glyphs_of(int digit);

}  // namespace lamina
