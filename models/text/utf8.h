#pragma once
// Characters of UTF-8 text.

#include <cstddef>
#include <string>
#include <string_view>

namespace lamina {

/// Removes and returns the first character of `text`; U+FFFD, for one byte, where the bytes are not UTF-8.
/// `text` must not be empty.
char32_t take_character(std::string_view& text);

/// The same as the bytes that `text` begins with: one or more.
std::string_view take_bytes_of_character(std::string_view& text);

/// Appends a character.
void append_character(std::string& text, char32_t character);

bool is_utf8(std::string_view text);

/// How many characters UTF-8 text has.
std::size_t characters_in(std::string_view text);

/// The text behind the byte order mark that it may begin with, as of files from spreadsheets and some editors.
std::string_view without_byte_order_mark(std::string_view text);

/// Latin-1 (one byte per character) as UTF-8.
std::string from_latin1(std::string_view bytes);

/// Windows-1252 as UTF-8: Latin-1 with curly quotes, dashes and others in place of its control characters, 0x80 to 0x9F, of
/// which five stay. Browsers read what is called Latin-1 so (WHATWG's Encoding Standard).
std::string from_windows_1252(std::string_view bytes);

}  // namespace lamina
