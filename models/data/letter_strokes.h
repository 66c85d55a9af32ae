#pragma once
// How the printable characters of ASCII are written, as strokes of the pen: an alphabet drawn for this
// project.

#include <vector>

#include "models/data/strokes.h"

namespace lamina {

/// One way to write a character. x to the right and y up from the baseline; a small letter is 1 high without
/// its ascender or descender.
struct Letter {
  Glyph glyph;
  float width;  ///< from the start of the glyph to that of the next, without the space between
  bool joins;   ///< its end is at the right, where a joined-up hand runs on into the next letter
};

/// The ways to write a character from '!' to '~'; others have none.
const std::vector<Letter>& letters_of(char character);

}  // namespace lamina
