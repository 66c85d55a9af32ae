#pragma once
// A passage coloured by the reader's attention.

#include <string>
#include <utility>
#include <vector>

#include "models/attentive_reader/data/question.h"

namespace lamina::attentive_reader {

struct Reading {
  Question question;
  std::vector<double> weights;                          ///< of each word of the passage; they sum to 1
  std::vector<std::pair<std::string, double>> answers;  ///< entities and their probabilities, likeliest first
};

/// The question, the passage and the answers for a terminal, in lines of at most `width` columns. In colour,
/// the more weight a word has the brighter its background (of the 256 colours of xterm); without colour, its
/// weight in percent follows a word whose weight is above average.
std::string as_text(const Reading& reading, bool colour, size_t width = 100);

/// The same as a self-contained HTML page, for light and dark screens.
std::string as_html(const Reading& reading);

/// Question and passage as a picture on white, in lines of at most `width` characters: the more weight a word has, the
/// darker the orange behind it.
std::string as_svg(const Reading& reading, size_t width = 80);

}  // namespace lamina::attentive_reader
