#pragma once
// Books in plain text, as Project Gutenberg and others give them: chapters, sentences, names.

#include <string>
#include <vector>

#include "models/attentive_reader/question.h"
#include "models/text/vocabulary.h"

namespace lamina::attentive_reader {

using BookSentence = Words;  ///< as it is written, marks too; a possessive 's is a word of its own

struct Chapter {
  size_t line = 0;  ///< where its first sentence begins, from 1
  std::vector<BookSentence> sentences;
};

/// What stands between Project Gutenberg's "*** START OF" and "*** END OF" lines, where there are such.
/// Chapters begin behind headings: lines such as "CHAPTER IV", "Chapter 12" or "II.". A sentence ends at
/// . ! or ? unless a lower-case word follows or the point is that of a title ("Mr.") or initial, and at an
/// empty line. Throws DataError, naming the file and the remedy, for what is not text (read_lines()) and when
/// there is no sentence in it.
std::vector<Chapter> read_book(const std::string& path);

/// The names of a book, in lower case, with how often each comes. A name is a word that begins with a capital
/// letter, in the middle of a sentence at least five times, and hardly ever (once in fifty) with a small one;
/// titles, days, months and "I" are none.
WordMap<size_t> names_of(const std::vector<Chapter>& book);

}  // namespace lamina::attentive_reader
