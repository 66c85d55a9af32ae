#include "models/attentive_reader/data/data.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <unordered_set>

#include "core/error.h"
#include "core/files/folder.h"
#include "core/math/digest.h"

namespace lamina::attentive_reader {

namespace {

namespace fs = std::filesystem;

constexpr size_t most_words = 20000;
constexpr const char* remedy =
    "; give a folder with training, validation and test, as the CNN corpus has them or `lamina data cloze` "
    "makes them, or leave --data out for the built-in stories";

/// Collects the words and entities of the vocabulary.
class Census {
 public:
  /// Words of a question; those of the training questions count.
  void add(const Question& question, bool training) {
    add_entity(question.answer);  // which may not be among the relevant sentences
    for (const Words* const words : {&question.passage, &question.query})
      for (const std::string& word : *words)
        if (!add_entity(word) && training && word != blank) words_.add(word);
  }

  void make_vocabulary(Data& data) const {
    std::vector<std::string> all{blank};
    for (size_t i = 0; i < entities_; ++i) all.push_back(entity_name(i));
    const Vocabulary frequent = words_.most_frequent(most_words);
    for (size_t i = 2; i < frequent.size(); ++i) all.push_back(frequent.word(static_cast<int>(i)));
    data.vocabulary = Vocabulary(all);
    data.entities = entities_;
  }

 private:
  bool add_entity(const std::string& word) {
    const auto number = entity_number(word);
    if (number) entities_ = std::max(entities_, *number + 1);
    return number.has_value();
  }

  WordCounter words_;
  size_t entities_ = 0;
};

/// Questions of which training has the same words, passage and answer: a model may know them by heart.
class Repeated {
 public:
  void add(const Question& question, bool training) {
    const std::string words =
        joined(question.passage) + '\n' + joined(question.query) + '\n' + question.answer;
    const std::uint64_t digest = digest_of(std::as_bytes(std::span(words)));
    if (training)
      trained_.insert(digest);
    else if (trained_.contains(digest))
      ++count_;
  }

  size_t count() const { return count_; }

 private:
  std::unordered_set<std::uint64_t> trained_;
  size_t count_ = 0;
};

/// The `.question` files of a folder, in the order of their names.
std::vector<std::string> list_questions(const std::string& folder) {
  if (!is_folder(folder)) fail<DataError>(folder, ": is not a folder", remedy);
  std::vector<std::string> names;
  for (const fs::path path : entries_of(folder))
    if (path.extension() == ".question") names.push_back(path.filename().string());
  if (names.empty()) fail<DataError>(folder, ": holds no .question files", remedy);
  return names;
}

QuestionSplit read_split(const std::string& folder, size_t sentences, bool training, Census& census,
                         Repeated& repeated) {
  const auto names = std::make_shared<const std::vector<std::string>>(list_questions(folder));
  QuestionSplit split{.count = names->size(), .read = [=](size_t i) {
                        Question question = read_question(folder + '/' + (*names)[i]);
                        question.passage = relevant_sentences(question, sentences);
                        return question;
                      }};
  split.lengths.reserve(split.count);
  for (size_t i = 0; i < split.count; ++i) {
    const Question question = split.read(i);
    split.lengths.push_back(static_cast<std::uint32_t>(question.passage.size()));
    census.add(question, training);
    repeated.add(question, training);
  }
  return split;
}

std::string sizes_of(const Data& data) {
  return text(data.train.count, " training, ", data.valid.count, " validation and ", data.test.count,
              " test questions, ", data.vocabulary.size(), " words, ", data.entities, " of them entities");
}

}  // namespace

Sentence Data::numbered(const Words& words) const {
  Sentence numbers;
  numbers.reserve(words.size());
  for (const std::string& word : words) numbers.push_back(vocabulary.number(word));
  return numbers;
}

Data load_questions(const std::string& folder, size_t sentences) {
  Data data;
  Census census;
  Repeated repeated;
  data.train = read_split(folder + "/training", sentences, true, census, repeated);
  data.valid = read_split(folder + "/validation", sentences, false, census, repeated);
  data.test = read_split(folder + "/test", sentences, false, census, repeated);
  census.make_vocabulary(data);
  const std::string cut =
      sentences == 0 ? "whole passages" : text("at most ", sentences, " sentences a passage");
  data.source = text("questions in ", folder, " (", cut, "): ", sizes_of(data));
  if (repeated.count() > 0)
    data.source += text("; ", repeated.count(), " of validation and test are in training as well");
  return data;
}

Data built_in_stories(std::uint64_t seed, const StorySizes& sizes) {
  constexpr std::uint64_t apart = std::uint64_t{1} << 40;  // more stories than any run reads
  const auto part = [&](size_t count, std::uint64_t number) {
    return QuestionSplit{.count = count, .read = [=, events = sizes.events](size_t i) {
                           return tell_story(seed, number * apart + i, events);
                         }};
  };
  Data data;
  data.train = part(sizes.train, 0);
  data.valid = part(sizes.valid, 1);
  data.test = part(sizes.test, 2);
  Census census;
  constexpr size_t enough = 1000;  // enough stories to use every word
  for (size_t i = 0; i < enough; ++i) census.add(data.train.read(i), true);
  census.make_vocabulary(data);
  data.source =
      text("built-in stories, not CNN (seed ", seed, ", ", sizes.events, " events): ", sizes_of(data));
  return data;
}

}  // namespace lamina::attentive_reader
