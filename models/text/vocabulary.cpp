#include "models/text/vocabulary.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace lamina {

Vocabulary::Vocabulary(const std::vector<std::string>& words) : words_{"<eos>", "<unk>"} {
  words_.insert(words_.end(), words.begin(), words.end());
  for (size_t i = 0; i < words_.size(); ++i)
    if (!numbers_.emplace(words_[i], static_cast<int>(i)).second)
      fail("vocabulary: the word '", words_[i], "' comes twice; give each word once");
}

int Vocabulary::number(std::string_view word) const {
  const auto found = numbers_.find(word);
  return found == numbers_.end() ? unknown : found->second;
}

const std::string& Vocabulary::word(int number) const {
  if (number < 0 || static_cast<size_t>(number) >= words_.size())
    fail("vocabulary: there is no word ", number, " among ", words_.size());
  return words_[static_cast<size_t>(number)];
}

void WordCounter::add(std::string_view word) {
  const auto found = counts_.find(word);
  if (found == counts_.end())
    counts_.emplace(word, 1);
  else
    ++found->second;
}

Vocabulary WordCounter::most_frequent(size_t most, size_t least) const {
  std::vector<std::pair<std::string, size_t>> ordered;
  for (const auto& [word, count] : counts_)
    if (count >= least && word != "<eos>" && word != "<unk>") ordered.emplace_back(word, count);
  std::ranges::sort(ordered, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  ordered.resize(std::min(most, ordered.size()));
  std::vector<std::string> words;
  words.reserve(ordered.size());
  for (auto& [word, count] : ordered) words.push_back(std::move(word));
  return Vocabulary(words);
}

}  // namespace lamina
