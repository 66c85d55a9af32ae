#include "models/handwriting/data/symbols.h"

namespace lamina::handwriting {

const std::string& alphabet() {
  static const std::string characters = " .,'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return characters;
}

int symbol_of(char character) {
  const std::size_t found = alphabet().find(character);
  return found == std::string::npos ? unknown_symbol : static_cast<int>(found) + 1;
}

std::vector<int> symbols_of(const std::string& text) {
  std::vector<int> symbols;
  symbols.reserve(text.size());
  for (const char c : text) symbols.push_back(symbol_of(c));
  return symbols;
}

}  // namespace lamina::handwriting
