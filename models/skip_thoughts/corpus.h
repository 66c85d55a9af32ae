#pragma once
// Contiguous text to learn from: books, or the built-in stories instead. A corpus is cut into passages, short
// pieces of consecutive sentences of one book, which are read from the disk when they are needed.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/text/batches.h"
#include "models/text/vocabulary.h"

namespace lamina::skip_thoughts {

inline constexpr size_t passage_sentences = 128;  ///< approximately, per passage
/// Sentences of this many words or more are not used for training. The public code's maxlen_w, which it
/// compares with <: with <eos> a sentence used for training has at most 30 steps.
inline constexpr size_t too_many_words = 30;

struct Corpus {
  Vocabulary vocabulary;
  std::vector<size_t> passages = {};  ///< how many sentences each has, at least 1
  /// How many sentences of each have one before and one after them, all of fewer than `too_many_words` words.
  std::vector<size_t> triples = {};
  std::function<std::vector<Sentence>(size_t passage)> read = {};
  std::function<void(const std::string& folder)> save = {};  ///< so that load_books finds it again
  std::string source = {};  ///< one line for the log: what the text is, and whether it is real

  size_t sentences() const;
};

/// The words of a sentence in the form used here: in lower case, contractions split in two.
std::vector<std::string> words_of(std::string_view sentence);

/// Reads all plain texts (*.txt) in a folder and below it once, but for those in the folders of runs, in the
/// order of their names, keeping at most a paragraph in memory: counts the words, of which the `most_words`
/// most frequent become the vocabulary, and notes where each passage begins. Leaves out Project Gutenberg's
/// notices. Throws DataError, naming the file, the line and the remedy, when there is no such file, one is
/// empty or not text, or two are the same (require_different()).
Corpus scan_books(const std::string& folder, size_t most_words);

/// The same from what `save` has written into a run's folder, without counting again. DataError when a
/// book is missing or has another size, or the files are broken.
Corpus load_books(const std::string& run_folder);

/// Reads the vocabulary that a run has saved.
Vocabulary load_vocabulary(const std::string& run_folder);
void save_vocabulary(const Vocabulary& vocabulary, const std::string& run_folder);

/// `stories` built-in stories of the sequence `seed`.
Corpus synthetic_stories(std::uint64_t seed, size_t stories);

}  // namespace lamina::skip_thoughts
