#pragma once
// Pictures of handwriting, and of the window's path over the text.

#include <string>
#include <vector>

#include "models/data/pen.h"
#include "models/handwriting/writing.h"
#include "models/pictures/png.h"

namespace lamina::handwriting {

/// The lines below each other, as vectors.
std::string svg_of(const std::vector<std::vector<PenPoint>>& lines);

/// The same in pixels, at most some 16 million of them. Error when the points are too far apart for that.
Image image_of(const std::vector<std::vector<PenPoint>>& lines);

/// phi(t, u): time to the right, the characters of the text from top to bottom, dark where the window is.
/// At most 4120 pixels wide; for a long text, several points share a column.
Image window_image_of(const Writing& writing, const std::string& text);

}  // namespace lamina::handwriting
