#pragma once
// Books as Project Gutenberg publishes them: a text between notices.

#include <span>
#include <string>

namespace lamina {

/// The lines between Project Gutenberg's "*** START OF" and "*** END OF", without "End of the Project Gutenberg EBook" before
/// the latter; all lines from or to where there is no such mark.
std::span<const std::string> without_notices(std::span<const std::string> lines);

}  // namespace lamina
