#pragma once
// What is made from the declaration of a program's commands and flags: its manual page, and what a shell completes.

#include <string>

#include "tools/flags/command_line.h"

namespace lamina {

/// The page in roff with the macros of man(7): `lamina manual > lamina.1; man ./lamina.1`. `version` is shown at its foot.
std::string manual_page(const Command& program, const std::string& version);

/// A script for bash, and for zsh, which reads it through its own bashcompinit: completes commands, flags, and the values of
/// flags that have a list of them; elsewhere files.
std::string bash_completion(const Command& program);

}  // namespace lamina
