#pragma once
// Text to learn from: books, or the built-in stories instead.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/transformer/alphabet.h"

namespace lamina::transformer {

/// The first nine tenths of each book, n / 10 * 9 of n units, are for training; of the rest the first half is for
/// validation, the second for the test. The alphabet is that of the training part: what it does not have is <unk> in the others.
struct Data {
  Alphabet alphabet;
  std::vector<int> train = {}, valid = {}, test = {};  ///< numbers of units, book after book
  /// One line for the log: what the text is, whether it is real, and how many units of the test are <unk>.
  std::string source = {};
};

/// The most frequent words become the alphabet of a model of words; the others are <unk>.
inline constexpr size_t most_words = 10000;

/// Reads the plain texts (*.txt) in a folder and below it, but for those in the folders of runs, in the order of their
/// names, or the one named `book` ("emma" or "emma.txt"), in UTF-8 or Windows-1252. Of a book of Project Gutenberg the notices
/// before and after the text are left out. Throws DataError, naming the file and the remedy, when there is none, one is
/// empty or not text, or two are the same (require_different()); UsageError for a book that is not there, or in two folders.
Data load_books(const std::string& folder, Unit unit, const std::string& book = {});

/// `stories` built-in stories of the sequence `seed` (models/text/stories.h), a line each.
Data built_in_stories(Unit unit, std::uint64_t seed, size_t stories);

}  // namespace lamina::transformer
