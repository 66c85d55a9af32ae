#pragma once
// What a language model reads and writes, one after another: the characters of a text, or its words. Each has a number.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/vocabulary.h"

namespace lamina::transformer {

enum class Unit {
  character,  ///< every character, line breaks too
  word        ///< words and punctuation marks as written, and "\n" between paragraphs
};

inline const char* name_of(Unit unit) { return unit == Unit::character ? "character" : "word"; }

/// Calls body(unit) for each unit of UTF-8 text, in order. Characters come as bytes of UTF-8.
void for_each_unit(Unit unit, std::string_view text, const std::function<void(std::string_view)>& body);

class Alphabet {
 public:
  Alphabet(Unit unit, Vocabulary vocabulary) : unit_(unit), vocabulary_(std::move(vocabulary)) {}

  Unit unit() const { return unit_; }
  size_t size() const { return vocabulary_.size(); }  ///< with <eos>, which no text has, and <unk>

  /// The numbers of a text's units; Vocabulary::unknown for those that are not in the alphabet.
  std::vector<int> numbers_of(std::string_view text) const;
  /// The units of a text that are not in the alphabet, each once.
  std::vector<std::string> strange_units(std::string_view text) const;
  /// A text of these units. Words are set apart by spaces, punctuation marks stand at the word that they belong to.
  std::string text_of(std::span<const int> numbers) const;

  /// Writes vocabulary.txt into a run's folder, a unit per line, and reads it again. Characters that a line of text
  /// cannot hold are written as their number: "\a;" is a line break. DataError for a broken file.
  void save(const std::string& run_folder) const;
  static Alphabet load(Unit unit, const std::string& run_folder);

 private:
  Unit unit_;
  Vocabulary vocabulary_;
};

}  // namespace lamina::transformer
