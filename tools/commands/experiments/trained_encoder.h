#pragma once
// The encoder of a run of lamina skip-thoughts, as the commands use it that read what was trained, and the words that a
// word2vec file adds to those that it has learned.

#include <optional>
#include <string>
#include <vector>

#include "models/skip_thoughts/expansion.h"
#include "models/text/word_vectors.h"
#include "tools/commands/experiments/skip_thoughts.h"

namespace lamina {

/// A run's encoder with its vocabulary.
struct TrainedEncoder {
  TrainedEncoder(SkipCommand& skip, const RunFolder& folder);

  /// The words that the encoder has learned, with their vectors as they are now.
  skip_thoughts::WordTable words() const {
    return {.vocabulary = vocabulary, .vectors = encoder.words().table()};
  }

  Vocabulary vocabulary;
  Parameters parameters{0};
  skip_thoughts::Encoder encoder;

 private:
  TrainedEncoder(const skip_thoughts::SkipOptions& options, const std::string& path);
};

/// A run of one variant. UsageError that names `command` and the path for anything else.
RunFolder open_encoder(const std::string& command, const std::string& path);

/// The flag that names a word2vec file.
void add_word_vectors_flag(Command& command, std::string& path);

/// Nothing without a file, and of it only what the regression is fitted on, and what is then looked up: a file of millions
/// of words may be larger than the memory. As in the public code, no phrases ("New_York").
std::optional<WordVectors> word_vectors_for(const std::string& path, const Vocabulary& vocabulary,
                                            const std::vector<std::string>& sentences);

/// `words`, and those that `vectors` adds if there are any.
skip_thoughts::WordTable expanded_words(const std::string& path, skip_thoughts::WordTable words,
                                        const std::optional<WordVectors>& vectors);

}  // namespace lamina
