#pragma once
// Cloze questions in the format of the CNN and Daily Mail corpora (Hermann et al. 2015): one `.question` file
// per question, with five parts separated by empty lines.
//
//   http://web.archive.org/...                    its source
//
//   ( @entity4 ) police in @entity1 say ...       the passage, tokenized; names are anonymous
//
//   the police of @placeholder say ...            the question: a sentence with a blank
//
//   @entity1                                      the answer
//
//   @entity1:Oslo                                 the names
//   @entity4:CNN

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lamina::attentive_reader {

using Words = std::vector<std::string>;

inline constexpr const char* blank = "@placeholder";

struct Question {
  std::string source;
  Words passage, query;
  std::string answer;                                      ///< "@entity1"
  std::vector<std::pair<std::string, std::string>> names;  ///< ("@entity1", "Oslo")
};

/// N of "@entityN", up to 9999 and without zeros before it; nothing for any other word.
std::optional<size_t> entity_number(std::string_view word);

/// "@entityN"
std::string entity_name(size_t number);

/// Throws DataError, with the file, the line and the remedy, when a part is missing, the question has no
/// blank, or the answer is no entity of the passage.
Question read_question(const std::string& path);

/// The words separated by spaces.
std::string joined(const Words& words);

/// The content of a `.question` file.
std::string to_text(const Question& question);

/// The passage cut down to `count` of its sentences, in their order: those that share the most words with the
/// question, where an entity counts as two words and words of fewer than four letters do not count; of equal
/// ones the earlier are taken. The answer is not used. Count 0 keeps all.
Words relevant_sentences(const Question& question, size_t count);

}  // namespace lamina::attentive_reader
