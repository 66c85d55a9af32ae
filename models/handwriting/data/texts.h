#pragma once
// English-like lines to write, made from a built-in list of words.

#include <string>

#include "core/math/random.h"

namespace lamina::handwriting {

/// A phrase of roughly `length` characters, of whole words with capitals and punctuation.
std::string draw_text(Random random, std::size_t length);

}  // namespace lamina::handwriting
