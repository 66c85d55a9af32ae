#include "models/attentive_reader/data/cloze.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/files/folder.h"
#include "core/math/random.h"
#include "models/run/run_folder.h"
#include "models/text/lines.h"
#include "models/text/tokenizer.h"

namespace lamina::attentive_reader {

namespace {

namespace fs = std::filesystem;

/// A sentence in lower case in which a mention of an entity is one token.
struct Token {
  std::string word;
  bool is_entity;
};
using Tokens = std::vector<Token>;

Tokens mark_names(const BookSentence& sentence, const WordMap<size_t>& names) {
  Tokens tokens;
  size_t uses = 0;  // of the word that identifies the last mention
  for (const std::string& written : sentence) {
    std::string word = lower_case(written);
    const auto name = names.find(word);
    if (name == names.end()) {
      tokens.push_back({std::move(word), false});
    } else if (tokens.empty() || !tokens.back().is_entity) {
      tokens.push_back({std::move(word), true});
      uses = name->second;
    } else if (name->second > uses) {
      tokens.back().word = std::move(word);
      uses = name->second;
    }
  }
  return tokens;
}

std::map<std::string, size_t> entities_of(const Tokens& tokens) {
  std::map<std::string, size_t> counts;
  for (const auto& [word, is_entity] : tokens)
    if (is_entity) ++counts[word];
  return counts;
}

/// Gives entities their anonymous names.
class Anonymizer {
 public:
  Anonymizer(const std::set<std::string>& entities, Random& random) {
    const std::vector<int> numbers = random.permutation(entities.size());
    for (const std::string& entity : entities)
      names_[entity] = entity_name(static_cast<size_t>(numbers[names_.size()]));
  }

  Words operator()(const Tokens& tokens) const {
    Words words;
    words.reserve(tokens.size());
    for (const auto& [word, is_entity] : tokens) words.push_back(is_entity ? names_.at(word) : word);
    return words;
  }

  const std::string& operator()(const std::string& entity) const { return names_.at(entity); }

  /// In the order of the numbers.
  std::vector<std::pair<std::string, std::string>> all() const {
    std::vector<std::pair<std::string, std::string>> sorted;
    for (const auto& [entity, name] : names_) sorted.emplace_back(name, entity);
    std::ranges::sort(sorted, {}, [](const auto& pair) { return entity_number(pair.first); });
    return sorted;
  }

 private:
  std::map<std::string, std::string> names_;
};

/// The sentences before number `index`, as many as fit into the limit of words.
Tokens passage_before(const std::vector<Tokens>& sentences, size_t index, size_t most_words) {
  size_t first = index, words = 0;
  while (first > 0 && words + sentences[first - 1].size() <= most_words) words += sentences[--first].size();
  Tokens passage;
  for (size_t i = first; i < index; ++i)
    passage.insert(passage.end(), sentences[i].begin(), sentences[i].end());
  return passage;
}

/// The folders of training, validation and test questions, written completely or not at all: the questions
/// are written below a folder of a name that nobody else uses and moved into place when they are complete.
class Folders {
 public:
  explicit Folders(const std::string& folder) : folder_(folder), unfinished_(folder + "/.lamina-unfinished") {
    for (const char* const name : names)
      if (exists(place_of(name)))
        fail<DataError>(place_of(name), ": is there already; name another folder with --out");
    fs::remove_all(unfinished_);  // left by a killed process
    for (const char* const name : names) make_folder(unfinished_ + '/' + name);
  }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;
  ~Folders() {
    std::error_code ignored;
    fs::remove_all(unfinished_, ignored);
  }

  void write(size_t split, const Question& question) {
    char name[32];
    std::snprintf(name, sizeof name, "/%06zu.question", ++counts[split]);
    const std::string path = unfinished_ + '/' + names[split] + name, bytes = to_text(question);
    std::ofstream file(path,
                       std::ios::binary);  // not write_file(): thousands of files, all or nothing anyway
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) fail<DataError>(path, ": cannot be written; make room on the disk");
  }

  /// The training questions come last: without them the folder is not a data set.
  void finish() const {
    for (const char* const name : {names[2], names[1], names[0]})
      fs::rename(unfinished_ + '/' + name, place_of(name));
  }

  std::array<size_t, 3> counts{};

 private:
  static constexpr std::array<const char*, 3> names{"training", "validation", "test"};
  std::string place_of(const char* name) const { return folder_ + '/' + name; }

  std::string folder_, unfinished_;
};

}  // namespace

std::vector<Question> cloze_questions(const Chapter& chapter, const WordMap<size_t>& names,
                                      const std::string& source, const ClozeOptions& options) {
  std::vector<Tokens> sentences;
  for (const BookSentence& sentence : chapter.sentences) sentences.push_back(mark_names(sentence, names));
  std::vector<Question> questions;
  for (size_t i = 0; i < sentences.size(); ++i) {
    if (sentences[i].size() > options.most_question_words) continue;
    const Tokens passage = passage_before(sentences, i, options.most_passage_words);
    const auto in_passage = entities_of(passage), in_question = entities_of(sentences[i]);
    std::vector<std::string> candidates;
    for (const auto& [entity, count] : in_question)
      if (count == 1 && in_passage.contains(entity)) candidates.push_back(entity);
    if (candidates.empty() || in_passage.size() < options.least_entities) continue;

    std::set<std::string> entities;
    for (const auto* const counts : {&in_passage, &in_question})
      for (const auto& [entity, count] : *counts) entities.insert(entity);
    for (size_t k = 0; k < candidates.size(); ++k) {
      Random random = Random(options.seed, chapter.line).split(i).split(k);
      const Anonymizer anonymous(entities, random);
      Tokens query = sentences[i];
      for (Token& token : query)
        if (token.is_entity && token.word == candidates[k]) token = {blank, false};
      questions.push_back({.source = text(source, ", sentence ", i + 1),
                           .passage = anonymous(passage),
                           .query = anonymous(query),
                           .answer = anonymous(candidates[k]),
                           .names = anonymous.all()});
    }
  }
  return questions;
}

ClozeCounts make_cloze(const std::vector<std::string>& books, const std::string& folder,
                       const ClozeOptions& options) {
  std::vector<std::vector<Chapter>> read;
  read.reserve(books.size());
  for (const std::string& path : books) read.push_back(read_book(path));  // all before anything is written
  require_different(books);
  Folders folders(folder);
  size_t number = 0;  // of the chapter, in all books
  for (size_t b = 0; b < books.size(); ++b) {
    const WordMap<size_t> names = names_of(read[b]);
    for (size_t c = 0; c < read[b].size(); ++c, ++number) {
      const size_t split = number % 10 == 8 ? 1 : number % 10 == 9 ? 2 : 0;
      const std::string source = text(fs::path(books[b]).filename().string(), ", chapter ", c + 1);
      for (const Question& question : cloze_questions(read[b][c], names, source, options))
        folders.write(split, question);
    }
  }
  const auto [train, valid, test] = folders.counts;
  if (train == 0 || valid == 0 || test == 0)
    fail<DataError>(folder, ": ", train, " training, ", valid, " validation and ", test,
                    " test questions came out of ", number,
                    " chapters; give longer books, at least ten chapters with names that recur");
  folders.finish();
  return {.train = train, .valid = valid, .test = test};
}

}  // namespace lamina::attentive_reader
