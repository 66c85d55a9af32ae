#pragma once
// Questions for training, validation and test: `.question` files, or built-in stories instead.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/attentive_reader/data/question.h"
#include "models/attentive_reader/data/stories.h"
#include "models/text/batches.h"
#include "models/text/vocabulary.h"

namespace lamina::attentive_reader {

/// Questions that are read or generated on request.
struct QuestionSplit {
  size_t count = 0;
  std::function<Question(size_t)> read = {};
  std::vector<std::uint32_t> lengths = {};  ///< words of each passage; empty: nearly the same for all
};

struct Data {
  QuestionSplit train, valid, test;
  Vocabulary vocabulary;  ///< <eos>, <unk>, @placeholder, all entities in the order of their numbers, words
  size_t entities = 0;    ///< from @entity0 on
  std::string source;     ///< one line for the log: what the data are, and whether they are real

  /// The numbers of words; those that are not in the vocabulary become <unk>.
  Sentence numbered(const Words& words) const;
};

/// Reads the folders training, validation and test of `folder`, each with any number of `.question` files:
/// once all of them, for the vocabulary (the 20,000 most frequent words of the training passages and
/// questions) and the lengths of the passages, then each again on request. Each passage is cut to the
/// `sentences` most relevant sentences (relevant_sentences()); 0 keeps all. Throws DataError, with the file,
/// the line and the remedy, for a folder that is missing or holds no questions and for a broken file.
Data load_questions(const std::string& folder, size_t sentences);

struct StorySizes {
  size_t train = 100000, valid = 1000, test = 1000, events = 10;
};

/// Built-in stories (stories.h). The splits are separate parts of the sequence `seed`.
Data built_in_stories(std::uint64_t seed, const StorySizes& sizes = {});

}  // namespace lamina::attentive_reader
