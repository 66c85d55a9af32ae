#pragma once
// Pictures of handwriting, and of the window's way over the text.

#include <string>
#include <vector>

#include "models/common/pen.h"
#include "models/common/png.h"
#include "models/handwriting/writing.h"

namespace lamina::handwriting {

/// The lines below each other, as vectors.
std::string svg_of(const std::vector<std::vector<PenPoint>>& lines);

/// The same in pixels.
Image image_of(const std::vector<std::vector<PenPoint>>& lines);

/// phi(t, u): time to the right, the characters of the text from top to bottom, dark where the window is.
Image window_image_of(const Writing& writing, const std::string& text);

}  // namespace lamina::handwriting
