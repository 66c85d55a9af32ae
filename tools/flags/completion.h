#pragma once
// What a shell completes of a program's command line, made from the declaration of its commands and flags.

#include <string>

#include "tools/flags/command_line.h"

namespace lamina {

/// A script for bash, and for zsh, which reads it through its own bashcompinit: completes commands, flags, and the values of
/// flags that have a list of them; elsewhere files.
std::string bash_completion(const Command& program);

}  // namespace lamina
