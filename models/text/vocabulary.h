#pragma once
// Words and their numbers.

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lamina {

/// Finds a std::string by a std::string_view without a copy.
struct WordHash : std::hash<std::string_view> {
  using is_transparent = void;
};
template <class Value>
using WordMap = std::unordered_map<std::string, Value, WordHash, std::equal_to<>>;

class Vocabulary {
 public:
  static constexpr int end = 0;      ///< <eos>, after the last word of a sentence
  static constexpr int unknown = 1;  ///< <unk>, every word that is not in the vocabulary

  /// `words` get the numbers 2, 3, ... in their order. Throws Error for a word that occurs twice.
  explicit Vocabulary(const std::vector<std::string>& words = {});

  size_t size() const { return words_.size(); }
  int number(std::string_view word) const;    ///< `unknown` for words that are not in it
  const std::string& word(int number) const;  ///< Error for a number that no word has
  /// The numbers of a sentence's words, followed by `end`.
  template <class Words>
  std::vector<int> sentence(const Words& words) const {
    std::vector<int> numbers;
    numbers.reserve(words.size() + 1);
    for (const std::string_view word : words) numbers.push_back(number(word));
    numbers.push_back(end);
    return numbers;
  }

  /// "not in the vocabulary: WORD" and a line's end for each of some words that is not.
  std::string lines_of_unknown(const std::vector<std::string>& words) const {
    std::string lines;
    for (const std::string& word : words)
      if (number(word) == unknown) lines += "not in the vocabulary: " + word + '\n';
    return lines;
  }

 private:
  std::vector<std::string> words_;
  WordMap<int> numbers_;
};

/// Collects the words of a text.
class WordCounter {
 public:
  void add(std::string_view word);
  static constexpr size_t all = static_cast<size_t>(-1);

  /// The most frequent words, at most `most`, of those that came `least` times or more; equally frequent ones in the order of
  /// their bytes.
  Vocabulary most_frequent(size_t most = all, size_t least = 1) const;

 private:
  WordMap<size_t> counts_;
};

}  // namespace lamina
