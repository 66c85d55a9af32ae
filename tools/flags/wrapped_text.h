#pragma once
// Text in lines that fit a terminal.

#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// The words in lines of at most `width`, where no word is longer; a list such as "none,batch,layer" is also broken
/// behind its commas.
std::vector<std::string> wrapped(std::string_view text, size_t width);

/// An entry of --help, with the description in a column of its own, or below the name where there is no room for one.
///
///   --seed INT:{from 0}=1       of all random
///                               numbers
std::string help_entry(std::string_view name, std::string_view description, size_t width);

}  // namespace lamina
