#pragma once
// The manual page of a program, made from the declaration of its commands and flags.

#include <string>

#include "tools/flags/command_line.h"

namespace lamina {

/// The page in roff with the macros of man(7): `lamina manual > lamina.1; man ./lamina.1`. `version` is shown at its foot.
std::string manual_page(const Command& program, const std::string& version);

}  // namespace lamina
