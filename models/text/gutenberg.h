#pragma once
// Books as Project Gutenberg publishes them: a text between notices.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace lamina {

/// The lines between Project Gutenberg's "*** START OF" and "*** END OF", without "End of the Project Gutenberg EBook" before
/// the latter; all lines from or to where there is no such mark.
std::span<const std::string> without_notices(std::span<const std::string> lines);

/// The same for a whole file: its bytes from `begin` up to `end`.
struct BytesOfText {
  size_t begin, end;
};
BytesOfText without_notices(std::string_view file);

}  // namespace lamina
