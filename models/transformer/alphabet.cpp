#include "models/transformer/alphabet.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/files/file.h"
#include "models/text/lines.h"
#include "models/text/tokenizer.h"
#include "models/text/utf8.h"

namespace lamina::transformer {

namespace {

constexpr const char* vocabulary_file = "/vocabulary.txt";
constexpr char32_t byte_order_mark = 0xFEFF;

void for_each_character(std::string_view text, const std::function<void(std::string_view)>& body) {
  while (!text.empty()) body(take_bytes_of_character(text));
}

/// A paragraph ends where a line is empty. Line breaks inside are only the width of the page.
void for_each_word(std::string_view text, const std::function<void(std::string_view)>& body) {
  bool begun = false, ended = false;  // whether a word has come, and an empty line after it
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::vector<std::string> words = words_as_written(line);
    ended = begun && (ended || words.empty());
    if (words.empty()) continue;
    if (std::exchange(ended, false)) body("\n");
    begun = true;
    for (const std::string& word : words) body(word);
  }
}

bool needs_number(char32_t c) { return c < ' ' || c == 0x7F || c == '\\' || c == byte_order_mark; }

/// "\a;" for a line break, which has the number 10.
std::string escaped(std::string_view unit) {
  std::string line;
  while (!unit.empty()) {
    const char32_t c = take_character(unit);
    if (!needs_number(c)) {
      append_character(line, c);
      continue;
    }
    std::array<char, 8> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), static_cast<std::uint32_t>(c), 16);
    line += '\\' + std::string(digits.data(), end.ptr) + ';';
  }
  return line;
}

/// What `escaped` was made of; DataError for what `escaped` does not write.
std::string unescaped(const std::string& path, std::string_view line) {
  std::string unit;
  while (!line.empty()) {
    const size_t plain = std::min(line.find('\\'), line.size());
    unit += line.substr(0, plain);
    line.remove_prefix(plain);
    if (line.empty()) break;
    std::uint32_t character = 0;
    const auto [end, error] = std::from_chars(line.data() + 1, line.data() + line.size(), character, 16);
    const auto length = static_cast<size_t>(end - line.data());
    if (error != std::errc() || length >= line.size() || *end != ';' || !needs_number(character))
      fail<DataError>(path, ": the line '", line, "' is broken; start a new run");
    append_character(unit, character);
    line.remove_prefix(length + 1);
  }
  return unit;
}

// Marks that stand at the word before, and at the word after them.
constexpr std::array<std::string_view, 12> closing{
    ".", ",", ";", ":", "!", "?", ")", "]", "\xE2\x80\x9D", "\xE2\x80\x99", "\xC2\xBB", "\n"};
constexpr std::array<std::string_view, 6> opening{"(", "[", "\xE2\x80\x9C", "\xE2\x80\x98", "\xC2\xAB", "\n"};

bool contains(std::span<const std::string_view> marks, std::string_view unit) {
  return std::ranges::find(marks, unit) != marks.end();
}

}  // namespace

void for_each_unit(Unit unit, std::string_view text, const std::function<void(std::string_view)>& body) {
  if (unit == Unit::character)
    for_each_character(text, body);
  else
    for_each_word(text, body);
}

std::vector<int> Alphabet::numbers_of(std::string_view text) const {
  std::vector<int> numbers;
  for_each_unit(unit_, text, [&](std::string_view unit) { numbers.push_back(vocabulary_.number(unit)); });
  return numbers;
}

std::vector<std::string> Alphabet::strange_units(std::string_view text) const {
  std::vector<std::string> strange;
  for_each_unit(unit_, text, [&](std::string_view unit) {
    if (vocabulary_.number(unit) == Vocabulary::unknown && std::ranges::find(strange, unit) == strange.end())
      strange.emplace_back(unit);
  });
  return strange;
}

std::string Alphabet::text_of(std::span<const int> numbers) const {
  std::string text;
  std::string_view before = "\n";
  for (const int number : numbers) {
    const std::string& unit = vocabulary_.word(number);
    const bool apart = unit_ == Unit::word && !contains(opening, before) && !contains(closing, unit);
    if (apart) text += ' ';
    text += unit;
    before = unit;
  }
  return text;
}

void Alphabet::save(const std::string& run_folder) const {
  std::string lines;
  for (size_t i = 2; i < size(); ++i) lines += escaped(vocabulary_.word(static_cast<int>(i))) + '\n';
  write_file(run_folder + vocabulary_file, lines);
}

Alphabet Alphabet::load(Unit unit, const std::string& run_folder) {
  const std::string path = run_folder + vocabulary_file;
  std::vector<std::string> units;
  for (const std::string& line : read_lines(path)) units.push_back(unescaped(path, line));
  try {
    return {unit, Vocabulary(units)};
  } catch (const DataError&) {
    throw;
  } catch (const Error& error) {
    fail<DataError>(path, ": ", error.what());
  }
}

}  // namespace lamina::transformer
