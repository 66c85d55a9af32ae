#include "models/attentive_reader/data/question.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/files/number.h"
#include "models/text/lines.h"
#include "models/text/tokenizer.h"
#include "models/text/utf8.h"

namespace lamina::attentive_reader {

namespace {

constexpr std::string_view entity_prefix = "@entity";
constexpr const char* remedy =
    "; a .question file has a source, a passage, a question, an answer and the names, with an empty line "
    "between";

/// Consecutive lines, and the number of the first.
struct Part {
  size_t line = 0;
  std::vector<std::string> lines;

  Words words() const {
    Words all;
    for (const std::string& each : lines)
      for (const std::string_view word : split_words(each)) all.emplace_back(word);
    return all;
  }
};

std::vector<Part> parts_of(const std::vector<std::string>& lines) {
  std::vector<Part> parts;
  bool inside = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool empty = split_words(lines[i]).empty();
    if (!empty && !inside) parts.push_back({.line = i + 1, .lines = {}});
    if (!empty) parts.back().lines.push_back(lines[i]);
    inside = !empty;
  }
  return parts;
}

bool contains(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

/// "@entity1:Oslo" lines.
void read_names(const std::string& path, const Part& part, Question& question) {
  for (size_t i = 0; i < part.lines.size(); ++i) {
    const std::string& line = part.lines[i];
    const size_t colon = std::min(line.find(':'), line.size());
    if (colon == line.size() || !entity_number(std::string_view(line).substr(0, colon)))
      fail<DataError>(path, ":", part.line + i, ": is not a name such as @entity1:Oslo", remedy);
    question.names.emplace_back(line.substr(0, colon), line.substr(colon + 1));
  }
}

}  // namespace

std::optional<size_t> entity_number(std::string_view word) {
  constexpr size_t most = 9999;
  if (!word.starts_with(entity_prefix)) return {};
  word.remove_prefix(entity_prefix.size());
  if (word.size() > 1 && word[0] == '0') return {};  // entity_name() does not write it
  const auto number = number_from<size_t>(word);
  return number && *number <= most ? number : std::nullopt;
}

std::string entity_name(size_t number) { return text(entity_prefix, number); }

Question read_question(const std::string& path) {
  constexpr std::array<const char*, 4> names{"source", "passage", "question", "answer"};
  const std::vector<std::string> lines = read_lines(path);
  const std::vector<Part> parts = parts_of(lines);
  if (parts.size() < names.size())
    fail<DataError>(path, ":", lines.size(), ": the file ends without its ", names[parts.size()], remedy);
  if (parts.size() > names.size() + 1)
    fail<DataError>(path, ":", parts[names.size() + 1].line, ": there is a sixth part", remedy);
  Question question{.source = parts[0].lines.front(),
                    .passage = parts[1].words(),
                    .query = parts[2].words(),
                    .answer = parts[3].words().front(),
                    .names = {}};
  if (!contains(question.query, blank))
    fail<DataError>(path, ":", parts[2].line, ": the question has no ", blank, remedy);
  if (!entity_number(question.answer) || parts[3].words().size() > 1)
    fail<DataError>(path, ":", parts[3].line, ": the answer is not one entity such as @entity1", remedy);
  if (!contains(question.passage, question.answer))
    fail<DataError>(path, ":", parts[3].line, ": the answer ", question.answer,
                    " is not in the passage; remove the file");
  if (parts.size() > names.size()) read_names(path, parts.back(), question);
  return question;
}

std::string joined(const Words& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line;
}

std::string to_text(const Question& question) {
  std::string names;
  for (const auto& [entity, name] : question.names) names += text(entity, ':', name, '\n');
  return text(question.source, "\n\n", joined(question.passage), "\n\n", joined(question.query), "\n\n",
              question.answer, "\n\n", names);
}

Words relevant_sentences(const Question& question, size_t count) {
  if (count == 0) return question.passage;
  const std::set<std::string_view> asked(question.query.begin(), question.query.end());
  struct Sentence {
    size_t begin, end, score;
  };
  std::vector<Sentence> sentences;
  std::set<std::string_view> shared;
  for (size_t begin = 0, i = 0; i < question.passage.size(); ++i) {
    const std::string& word = question.passage[i];
    if (asked.contains(word)) shared.insert(word);
    const bool ends = word == "." || word == "!" || word == "?" || i + 1 == question.passage.size();
    if (!ends) continue;
    size_t score = 0;
    for (const std::string_view each : shared)
      score += entity_number(each) ? 2 : characters_in(each) < 4 ? 0 : 1;
    sentences.push_back({begin, i + 1, score});
    shared.clear();
    begin = i + 1;
  }
  if (sentences.size() <= count) return question.passage;
  std::ranges::stable_sort(sentences, std::ranges::greater(), &Sentence::score);
  sentences.resize(count);
  std::ranges::sort(sentences, {}, &Sentence::begin);
  Words kept;
  for (const auto& [begin, end, score] : sentences)
    kept.insert(kept.end(), question.passage.begin() + static_cast<std::ptrdiff_t>(begin),
                question.passage.begin() + static_cast<std::ptrdiff_t>(end));
  return kept;
}

}  // namespace lamina::attentive_reader
