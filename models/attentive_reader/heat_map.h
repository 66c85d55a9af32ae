#pragma once
// A passage coloured by where the reader looked.

#include <string>
#include <utility>
#include <vector>

#include "models/attentive_reader/question.h"

namespace lamina::attentive_reader {

struct Reading {
  Question question;
  std::vector<double> weights;                          ///< of each word of the passage; they sum to 1
  std::vector<std::pair<std::string, double>> answers;  ///< entities and their probabilities, likeliest first
};

/// The question, the passage and the answers for a terminal, in lines of at most `width` columns. In colour
/// the background of a word (of the 256 colours of xterm) is the brighter the more weight it has; without
/// colour its weight in percent follows a word that has more than its share.
std::string as_text(const Reading& reading, bool colour, size_t width = 100);

/// The same as a page that needs nothing else, for light and dark screens.
std::string as_html(const Reading& reading);

}  // namespace lamina::attentive_reader
