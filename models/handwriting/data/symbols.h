#pragma once
// The 57 symbols that the network knows, in this order: one for every other character, space, full stop, comma,
// apostrophe, a to z, A to Z. (Graves 2013 has 57 as well, one of them for digits and most punctuation; the exact
// set is unspecified there.)

#include <string>
#include <string_view>
#include <vector>

namespace lamina::handwriting {

inline constexpr std::size_t symbol_count = 57;
inline constexpr int unknown_symbol = 0;

/// The characters of the symbols 1 to 56, in order.
const std::string& alphabet();

/// A character's symbol, or unknown_symbol.
int symbol_of(char character);

/// The symbol of each character of UTF-8; a byte that belongs to none is a character, as in Latin-1.
std::vector<int> symbols_of(std::string_view text);

}  // namespace lamina::handwriting
