#include "models/text/sentences.h"

#include <algorithm>
#include <array>

#include "models/text/tokenizer.h"
#include "models/text/utf8.h"

namespace lamina {

namespace {

constexpr size_t longest_paragraph = 65536;

bool is_mark(char c) { return c == '.' || c == '!' || c == '?'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }  // also where a page or a line ends
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Removes the first of these that `text` begins with; whether there was one.
template <size_t count>
bool take_any(std::string_view& text, const std::array<std::string_view, count>& choices) {
  for (const std::string_view choice : choices)
    if (text.starts_with(choice)) {
      text.remove_prefix(choice.size());
      return true;
    }
  return false;
}

// Typographic quotes in UTF-8, those of ASCII, brackets, and the underscore that marks italics.
constexpr std::array<std::string_view, 8> closing{
    "\xE2\x80\x9D", "\xE2\x80\x99", "\xC2\xBB", "\"", "'", ")", "]", "_"};
constexpr std::array<std::string_view, 8> opening{
    "\xE2\x80\x9C", "\xE2\x80\x98", "\xC2\xAB", "\"", "'", "(", "[", "_"};

bool begins_small(std::string_view text) {
  while (take_any(text, opening)) {
  }
  if (text.empty()) return false;
  const char32_t first = take_character(text);
  return (first >= 'a' && first <= 'z') || (first >= 0xDF && first <= 0xFF);
}

/// Whether the point after `text` belongs to its last word: a title or an initial.
bool ends_in_abbreviation(std::string_view text) {
  static constexpr std::array<std::string_view, 19> titles{
      "Mr",  "Mrs", "Ms", "Dr",    "St",    "Messrs", "Mme", "Mlle", "Prof", "Capt",
      "Col", "Gen", "Lt", "Lieut", "Sergt", "Rev",    "Hon", "Vol",  "vs"};
  size_t begin = text.size();
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  const std::string_view word = text.substr(begin);
  const bool initial = word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z' && word != "I";
  return initial || std::ranges::find(titles, word) != titles.end();
}

/// Whether a sentence ends where `rest` begins, which follows a mark and closing quotes.
bool ends_before(std::string_view rest, std::string_view sentence) {
  const auto* const next = std::ranges::find_if_not(rest, is_space);
  if (next == rest.end()) return true;
  if (next == rest.begin()) return false;  // "3.5", "e.g."
  const std::string_view space = rest.substr(0, static_cast<size_t>(next - rest.begin()));
  if (!begins_small(rest.substr(space.size()))) return true;
  return space.find('\n') != space.npos && begins_small(sentence);
}

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view paragraph) {
  std::vector<std::string_view> sentences;
  std::string_view rest = paragraph;  // begins with the current sentence
  for (size_t i = 0; i < rest.size();) {
    if (!is_mark(rest[i])) {
      ++i;
      continue;
    }
    const bool abbreviation = rest[i] == '.' && ends_in_abbreviation(rest.substr(0, i));
    while (i < rest.size() && is_mark(rest[i])) ++i;
    std::string_view behind = rest.substr(i);
    while (take_any(behind, closing)) {
    }
    const size_t end = rest.size() - behind.size();
    i = end;
    if (abbreviation || !ends_before(behind, rest)) continue;
    sentences.push_back(rest.substr(0, end));
    rest = behind.substr(static_cast<size_t>(std::ranges::find_if_not(behind, is_space) - behind.begin()));
    i = 0;
  }
  if (std::ranges::find_if_not(rest, is_space) != rest.end()) sentences.push_back(rest);
  return sentences;
}

ParagraphReader::ParagraphReader(const std::string& path, size_t position, size_t end)
    : lines_(path, position, longest_paragraph, end) {}

bool ParagraphReader::next(std::string& paragraph) {
  paragraph.clear();
  for (std::string line; paragraph.size() < longest_paragraph && lines_.next(line);) {
    if (std::ranges::find_if_not(line, is_space) == line.end()) {
      if (paragraph.empty()) continue;
      break;
    }
    paragraph += line;
    paragraph += '\n';
  }
  return !paragraph.empty();
}

}  // namespace lamina
