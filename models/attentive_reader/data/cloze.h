#pragma once
// Cloze questions from books.
//
// Where a sentence names somebody or something once, and the sentences before it (of the same chapter, at
// most 200 words) name it too, that name is blanked: the sentence becomes a question, and the sentences
// before it are the passage. Names are anonymous: each gets a number, drawn anew for every question, so
// knowledge about a name from elsewhere does not help. Adjacent names ("Sherlock Holmes") count as one
// entity, identified by the name that is most frequent in the book.

#include <cstdint>
#include <string>
#include <vector>

#include "models/attentive_reader/data/book.h"
#include "models/attentive_reader/data/question.h"

namespace lamina::attentive_reader {

struct ClozeOptions {
  size_t most_passage_words = 200, most_question_words = 40;
  size_t least_entities = 3;  ///< in the passage
  std::uint64_t seed = 1;     ///< of the numbers
};

/// The questions of one chapter, whose names are `names` (names_of()). The source of each begins with
/// `source`.
std::vector<Question> cloze_questions(const Chapter& chapter, const WordMap<size_t>& names,
                                      const std::string& source, const ClozeOptions& options = {});

/// How many questions each split got.
struct ClozeCounts {
  size_t train = 0, valid = 0, test = 0;
};

/// Writes the questions of these books into `folder`/training, /validation and /test. Counting the chapters
/// of all books together, of every ten the ninth is for validation and the tenth for test. Throws DataError for a book
/// that read_book() refuses or that is given twice (require_different()), for books with too few chapters or names
/// to fill all three, and when `folder` holds questions already or cannot be written.
ClozeCounts make_cloze(const std::vector<std::string>& books, const std::string& folder,
                       const ClozeOptions& options = {});

}  // namespace lamina::attentive_reader
