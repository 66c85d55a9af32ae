#pragma once
// Sentences as lists of words.

#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// The parts of a line between spaces and tabs: the words of text that is already tokenized. Returns views
/// into it.
std::vector<std::string_view> split_words(std::string_view line);

/// The words of ordinary UTF-8 text as written, with each punctuation mark as a separate word. An apostrophe
/// or hyphen between letters and a point or comma between digits stay inside: "Don't", "black-and-white",
/// "3.5". The typographic apostrophe becomes the plain one.
std::vector<std::string> words_as_written(std::string_view text);

/// The same in lower case (of ASCII and Latin-1).
std::vector<std::string> tokenize(std::string_view text);

/// UTF-8 text in lower case (of ASCII and Latin-1).
std::string lower_case(std::string_view text);

/// The same with contractions split in two, as in the Penn Treebank and the data sets of sentence
/// classification: "do n't", "it 's". Parts that are already separate stay whole.
std::vector<std::string> tokenize_apart(std::string_view text);

}  // namespace lamina
