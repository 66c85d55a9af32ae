#pragma once
// Numbers in texts.

#include <charconv>
#include <optional>
#include <string_view>

namespace lamina {

/// The number that all of a text is, of doubles "nan" and "inf" too; nothing when it is none or does not fit.
template <class Number = double>
std::optional<Number> number_from(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || stop != end) return {};
  return number;
}

}  // namespace lamina
