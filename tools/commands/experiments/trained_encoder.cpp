#include "tools/commands/experiments/trained_encoder.h"

#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/files/folder.h"
#include "models/skip_thoughts/corpus.h"

namespace lamina {

using namespace skip_thoughts;

namespace {

SkipOptions options_of(SkipCommand& skip, const RunFolder& folder) {
  skip.open("RUN", folder.path());
  return skip.options();
}

/// The words that some sentences need from a word2vec file, besides those that the encoder knows.
std::set<std::string, std::less<>> words_in(const std::vector<std::string>& sentences) {
  std::set<std::string, std::less<>> found;
  for (const std::string& sentence : sentences)
    for (std::string& word : words_of(sentence)) found.insert(std::move(word));
  return found;
}

}  // namespace

TrainedEncoder::TrainedEncoder(SkipCommand& skip, const RunFolder& folder)
    : TrainedEncoder(options_of(skip, folder), folder.path()) {}

TrainedEncoder::TrainedEncoder(const SkipOptions& options, const std::string& path)
    : vocabulary(load_vocabulary(path)),
      encoder(parameters, options.norm,
              {.vocabulary = vocabulary.size(), .embedding = options.embedding, .hidden = options.hidden}) {}

RunFolder open_encoder(const std::string& command, const std::string& path) {
  RunFolder folder = open_run("skip-thoughts", command, path);
  if (!exists(folder.file("vocabulary.txt")))
    fail<UsageError>(command, " ", path, ": holds no encoder; name the run of one variant, as in ",
                     folder.file("layer-b64"));
  return folder;
}

void add_word_vectors_flag(Command& command, std::string& path) {
  command.add(
      "--word-vectors", path,
      "a word2vec file, text or binary: words outside the run's vocabulary are mapped in from it by linear "
      "regression");
}

std::optional<WordVectors> word_vectors_for(const std::string& path, const Vocabulary& vocabulary,
                                            const std::vector<std::string>& sentences) {
  if (path.empty()) return {};
  const auto needed = words_in(sentences);
  return read_word_vectors(path, [&](std::string_view word) {
    return word.find('_') == word.npos &&
           (vocabulary.number(word) > Vocabulary::unknown || needed.contains(word));
  });
}

WordTable expanded_words(const std::string& path, WordTable words,
                         const std::optional<WordVectors>& vectors) {
  if (!vectors) return words;
  try {
    return expand(words, *vectors).words;
  } catch (const Error& error) {
    fail<DataError>(path, ": ", error.what());
  }
}

}  // namespace lamina
