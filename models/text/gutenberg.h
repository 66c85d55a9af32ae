#pragma once
// Books as Project Gutenberg publishes them: a text between notices.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace lamina {

/// The lines between Project Gutenberg's "*** START OF" and "*** END OF", without "End of the Project Gutenberg EBook" before
/// the latter; all lines from or to where there is no such mark. Older books have "***START OF", and "End of" with "The",
/// "this" or no article; the oldest begin behind "*END*THE SMALL PRINT!", where that is in the first half. Throws DataError
/// with the path when another book follows.
std::span<const std::string> without_notices(std::span<const std::string> lines, const std::string& path);

/// The same for a whole file, which may begin with a byte order mark: its bytes from `begin` up to `end`.
struct PartOfText {
  size_t begin, end;
};
PartOfText without_notices(std::string_view file, const std::string& path);

}  // namespace lamina
