#include "models/handwriting/data/symbols.h"

#include "models/text/utf8.h"

namespace lamina::handwriting {

const std::string& alphabet() {
  static const std::string characters = " .,'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return characters;
}

int symbol_of(char character) {
  const std::size_t found = alphabet().find(character);
  return found == std::string::npos ? unknown_symbol : static_cast<int>(found) + 1;
}

std::vector<int> symbols_of(std::string_view text) {
  std::vector<int> symbols;
  symbols.reserve(text.size());
  while (!text.empty())  // the first byte of a longer one is in no alphabet either
    symbols.push_back(symbol_of(take_bytes_of_character(text).front()));
  return symbols;
}

}  // namespace lamina::handwriting
