// lamina skip-thoughts encode and neighbours: vectors of sentences, and which sentences are near to each other.

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <set>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "models/data/npy.h"
#include "models/skip_thoughts/evaluation/evaluation.h"
#include "models/text/utf8.h"
#include "tools/commands/experiments/trained_encoder.h"

namespace lamina {

using namespace skip_thoughts;

// --- encode

namespace {

struct EncodeFlags {
  std::string run, word_vectors;
  int threads = 0;
};

std::vector<std::string> lines_of_standard_input() {
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) {
    if (lines.empty()) line.erase(0, line.size() - without_byte_order_mark(line).size());
    if (line.ends_with('\r')) line.pop_back();
    if (line.find('\0') != line.npos)
      fail<DataError>("standard input:", lines.size() + 1, ": holds a zero byte, so it is not plain text");
    lines.push_back(is_utf8(line) ? line : from_windows_1252(line));
  }
  if (lines.empty())
    fail<DataError>("standard input: is empty; give a sentence a line, as in encode RUN < lines");
  return lines;
}

void run_encode(SkipCommand& skip, const EncodeFlags& flags) {
  if (::isatty(STDOUT_FILENO) == 1)
    fail<UsageError>(
        "encode: writes numbers that a terminal cannot show; redirect them, as in > vectors.npy");
  set_threads(flags.threads);
  const RunFolder folder = open_encoder("encode", flags.run);
  TrainedEncoder trained(skip, folder);
  load_model(folder, trained.parameters);
  const std::vector<std::string> lines = lines_of_standard_input();
  const auto vectors = word_vectors_for(flags.word_vectors, trained.vocabulary, lines);
  const WordTable words = expanded_words(flags.word_vectors, trained.words(), vectors);
  const std::string bytes = npy_bytes(encode(trained.encoder, words, lines));
  std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
  if (!std::cout) fail<DataError>("standard output: cannot be written; check the disk");
}

}  // namespace

void add_skip_encode(Command& parent, const std::shared_ptr<SkipCommand>& skip) {
  Command& command = parent.add_command(
      "encode", "vectors of the sentences on standard input, one per line, as .npy",
      "Example: lamina skip-thoughts encode runs/skip-thoughts/layer-b64 < lines > vectors.npy");
  const auto flags = std::make_shared<EncodeFlags>();
  command.add("RUN", flags->run, "folder of a run of one variant").required();
  add_word_vectors_flag(command, flags->word_vectors);
  add_threads_flag(command, flags->threads);
  command.action([skip, flags] { run_encode(*skip, *flags); });
}

// --- neighbours

namespace {

struct NeighbourFlags {
  std::string run, sentence;
  size_t count = 5, among = 5000;
  int threads = 0;
};

std::string text_of(const Sentence& sentence, const Vocabulary& vocabulary) {
  std::string words;
  for (const int word : sentence)
    if (word != Vocabulary::end) words += (words.empty() ? "" : " ") + vocabulary.word(word);
  return words;
}

/// Sentences of the run's own text, from passages all over it, each once and none of them the `asked` one.
std::vector<Sentence> sentences_of(const Corpus& corpus, size_t most, const Sentence& asked) {
  std::set<Sentence> seen{asked};
  const size_t passages = corpus.passages.size();
  const size_t wanted = std::min(passages, most / passage_sentences + 1);
  std::vector<Sentence> found;
  for (size_t i = 0; i < wanted; ++i)
    for (Sentence& sentence : corpus.read(i * passages / wanted))
      if (seen.insert(sentence).second) found.push_back(std::move(sentence));
  return found;
}

void run_neighbours(SkipCommand& skip, const NeighbourFlags& flags) {
  set_threads(flags.threads);
  const RunFolder folder = open_encoder("neighbours", flags.run);
  TrainedEncoder trained(skip, folder);
  load_model(folder, trained.parameters);
  const Corpus& corpus = skip.corpus_of(folder);
  const std::vector<std::string> words = words_of(flags.sentence);
  std::cout << corpus.vocabulary.lines_of_unknown(words);
  const Sentence asked = corpus.vocabulary.sentence(words);
  std::vector<Sentence> sentences = sentences_of(corpus, flags.among, asked);
  sentences.push_back(asked);
  const Tensor vectors = encode_numbered(trained.encoder, trained.words(), sentences);
  const DenseFeatures features(vectors);
  const size_t last = sentences.size() - 1;
  const real* const own = vectors.data() + last * vectors.columns();
  std::vector<std::pair<real, size_t>> cosines;  // vectors have length 1
  for (size_t i = 0; i < last; ++i) cosines.emplace_back(features.dot(i, own), i);
  const auto count = std::min(cosines.size(), flags.count);
  std::ranges::partial_sort(cosines, cosines.begin() + static_cast<std::ptrdiff_t>(count), std::greater<>());
  std::cout << corpus.source << '\n';
  for (size_t i = 0; i < count; ++i)
    std::cout << text("cosine ", cosines[i].first, ": ",
                      text_of(sentences[cosines[i].second], corpus.vocabulary))
              << '\n';
}

}  // namespace

void add_skip_neighbours(Command& parent, const std::shared_ptr<SkipCommand>& skip) {
  Command& command = parent.add_command(
      "neighbours", "the sentences of a run's own text that are nearest to another one",
      "Example: lamina skip-thoughts neighbours runs/skip-thoughts/layer-b64 \"he shut the door .\"");
  const auto flags = std::make_shared<NeighbourFlags>();
  command.add("RUN", flags->run, "folder of a run of one variant").required();
  command.add("SENTENCE", flags->sentence, "in quotes").required();
  command.add("--count", flags->count, "how many to list").positive().show_default();
  command.add("--among", flags->among, "how many sentences to look through, about").positive().show_default();
  add_threads_flag(command, flags->threads);
  command.action([skip, flags] { run_neighbours(*skip, *flags); });
}

}  // namespace lamina
