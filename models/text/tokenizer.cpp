#include "models/text/tokenizer.h"

#include <algorithm>
#include <array>

#include "models/text/utf8.h"

namespace lamina {

namespace {

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

bool is_letter(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool latin_sign = c < 0xC0 || c == 0xD7 || c == 0xF7;
  const bool punctuation = (c >= 0x2000 && c < 0x2070) || (c >= 0x3000 && c < 0x3040) || c == 0xFFFD;
  return !latin_sign && !punctuation;
}

/// Unicode's white space, at which the public code splits sentences too, and what shows as nothing.
bool is_space(char32_t c) {
  constexpr std::array<char32_t, 8> others{0x7F, 0x85, 0xA0, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  return c <= ' ' || (c >= 0x2000 && c <= 0x200B) || std::ranges::find(others, c) != others.end();
}

char32_t lower(char32_t c) {
  const bool capital = (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7);
  return capital ? c + 0x20 : c;
}

/// Whether a mark between two characters belongs to their word.
bool joins(char32_t left, char32_t mark, char32_t right) {
  if (mark == '\'' || mark == '-') return is_letter(left) && is_letter(right);
  return (mark == '.' || mark == ',') && is_digit(left) && is_digit(right);
}

constexpr std::array<std::string_view, 7> clitics{"n't", "'s", "'m", "'d", "'ll", "'re", "'ve"};

char32_t plain_apostrophe(char32_t c) { return c == 0x2019 ? U'\'' : c; }

/// The clitic that a part is, however it is written; nothing for any other part.
std::string_view as_clitic(std::string_view part) {
  std::string plain;
  while (!part.empty()) append_character(plain, plain_apostrophe(lower(take_character(part))));
  const auto* const clitic = std::ranges::find(clitics, plain);
  return clitic == clitics.end() ? std::string_view() : *clitic;
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view line) {
  constexpr std::string_view spaces = " \t";
  std::vector<std::string_view> words;
  for (size_t begin = line.find_first_not_of(spaces); begin != line.npos;) {
    const size_t end = std::min(line.find_first_of(spaces, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(spaces, end);
  }
  return words;
}

std::string lower_case(std::string_view text) {
  std::string lowered;
  while (!text.empty()) append_character(lowered, lower(take_character(text)));
  return lowered;
}

std::vector<std::string> tokenize(std::string_view text) { return words_as_written(lower_case(text)); }

std::vector<std::string> words_as_written(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) characters += plain_apostrophe(take_character(text));
  std::vector<std::string> words;
  bool inside = false;  // a word that the next letter or digit belongs to
  for (size_t i = 0; i < characters.size(); ++i) {
    const char32_t c = characters[i];
    const bool joined = inside && i + 1 < characters.size() && joins(characters[i - 1], c, characters[i + 1]);
    const bool of_word = is_letter(c) || is_digit(c) || joined;
    if (!is_space(c)) {
      if (!(inside && of_word)) words.emplace_back();
      append_character(words.back(), c);
    }
    inside = of_word;
  }
  return words;
}

std::vector<std::string> tokenize_apart(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view part : split_words(text)) {
    if (const std::string_view whole = as_clitic(part); !whole.empty()) {
      words.emplace_back(whole);
      continue;
    }
    for (std::string& word : tokenize(part)) {
      const auto clitic = std::ranges::find_if(clitics, [&](std::string_view ending) {
        return word.size() > ending.size() && word.ends_with(ending);
      });
      if (clitic != clitics.end()) {
        words.push_back(word.substr(0, word.size() - clitic->size()));
        word = *clitic;
      }
      words.push_back(std::move(word));
    }
  }
  return words;
}

}  // namespace lamina
