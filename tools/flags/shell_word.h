#pragma once
// Words of commands that are printed for the reader to copy.

#include <string>

namespace lamina {

/// The word as a shell takes it: as it is, or in single quotes where it holds anything that a shell might change.
std::string shell_word(const std::string& word);

}  // namespace lamina
