#pragma once
// Books in plain text, as Project Gutenberg and others publish them: chapters, sentences, names.

#include <string>
#include <vector>

#include "models/attentive_reader/data/question.h"
#include "models/text/vocabulary.h"

namespace lamina::attentive_reader {

using BookSentence = Words;  ///< as written, with punctuation; a possessive 's is a separate word

struct Chapter {
  size_t line = 0;  ///< where its first sentence begins, from 1
  std::vector<BookSentence> sentences;
};

/// The text between Project Gutenberg's "*** START OF" and "*** END OF" lines, where present. Chapters begin
/// after headings: lines such as "CHAPTER IV", "Chapter 12" or "II.". A sentence ends at . ! or ? unless a
/// lower-case word follows or the point is that of a title ("Mr.") or initial, and at an empty line. Throws
/// DataError, naming the file and the remedy, for a file that is not text (read_lines()) or has no sentence.
std::vector<Chapter> read_book(const std::string& path);

/// The names of a book, in lower case, with their frequencies. A name is a word that begins with a capital
/// letter, in the middle of a sentence at least five times, and hardly ever (once in fifty) with a small one;
/// titles, days, months and "I" do not count as names.
WordMap<size_t> names_of(const std::vector<Chapter>& book);

}  // namespace lamina::attentive_reader
