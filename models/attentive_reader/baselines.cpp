#include "models/attentive_reader/baselines.h"

#include <algorithm>
#include <map>

namespace lamina::attentive_reader {

namespace {

using Counts = std::map<std::string, size_t>;

/// The probability that a draw from the most frequent ones is not the answer.
double error_of_most_frequent(const Counts& counts, const std::string& answer) {
  size_t most = 0, equals = 0;
  for (const auto& [entity, count] : counts) most = std::max(most, count);
  for (const auto& [entity, count] : counts) equals += count == most ? 1 : 0;
  const auto found = counts.find(answer);
  const bool among = found != counts.end() && found->second == most;
  return among ? 1 - 1 / static_cast<double>(equals) : 1;
}

}  // namespace

Baselines baselines_of(const Question& question) {
  Counts counts;
  for (const std::string& word : question.passage)
    if (entity_number(word)) ++counts[word];
  if (counts.empty()) return {.chance = 1, .frequent = 1, .frequent_other = 1};
  Counts others = counts;
  for (const std::string& word : question.query) others.erase(word);
  const double right = counts.contains(question.answer) ? 1 / static_cast<double>(counts.size()) : 0;
  return {.chance = 1 - right,
          .frequent = error_of_most_frequent(counts, question.answer),
          .frequent_other = error_of_most_frequent(others.empty() ? counts : others, question.answer)};
}

}  // namespace lamina::attentive_reader
