#include "models/text/utf8.h"

#include <algorithm>
#include <array>

namespace lamina {

namespace {

constexpr char32_t invalid = 0xFFFD;

/// How many bytes the character has that begins with this one; 0 for a byte that begins none.
size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;  // the middle of a character, or an overlong encoding
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

/// The character at the beginning and its length; length 0 when the bytes are not UTF-8.
struct Decoded {
  char32_t character = invalid;
  size_t length = 0;
};

Decoded decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = length_of(byte(0));
  if (length == 0 || length > text.size()) return {};
  char32_t character = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    character = character << 6U | (byte(i) & 0x3FU);
  }
  const bool too_long = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  const bool surrogate = character >= 0xD800 && character < 0xE000;
  if (too_long || surrogate || character > 0x10FFFF) return {};
  return {character, length};
}

}  // namespace

char32_t take_character(std::string_view& text) {
  const Decoded first = decode(text);
  text.remove_prefix(first.length == 0 ? 1 : first.length);
  return first.character;
}

std::string_view take_bytes_of_character(std::string_view& text) {
  const std::string_view before = text;
  take_character(text);
  return before.substr(0, before.size() - text.size());
}

void append_character(std::string& text, char32_t character) {
  const auto rest = [&](unsigned shift) {
    text += static_cast<char>(0x80U | ((character >> shift) & 0x3FU));
  };
  if (character < 0x80) {
    text += static_cast<char>(character);
  } else if (character < 0x800) {
    text += static_cast<char>(0xC0U | character >> 6U);
    rest(0);
  } else if (character < 0x10000) {
    text += static_cast<char>(0xE0U | character >> 12U);
    rest(6);
    rest(0);
  } else {
    text += static_cast<char>(0xF0U | character >> 18U);
    rest(12);
    rest(6);
    rest(0);
  }
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = decode(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Those bytes that are not inside of a character.
std::size_t characters_in(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string from_latin1(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) append_character(text, static_cast<unsigned char>(byte));
  return text;
}

std::string from_windows_1252(std::string_view bytes) {
  constexpr std::array<char32_t, 0x20> others{0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                              0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                              0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                              0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
  std::string text;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    append_character(text, code >= 0x80 && code < 0xA0 ? others.at(code - 0x80U) : code);
  }
  return text;
}

}  // namespace lamina
