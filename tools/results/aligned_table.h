#pragma once
// Markdown tables as a terminal shows them: columns aligned, titles in several lines where they are wider than their
// numbers and the table is wider than the terminal. What even then does not fit follows below, behind the first column.
//
//   | variant | test error | seconds |       variant     test error  seconds
//   |---|---|---|                      ->    ----------  ----------  -------
//   | layer norm | **1.36%** | 7 |           layer norm       1.36%        7

#include <string>
#include <string_view>

#include "models/terminal/terminal.h"

namespace lamina {

/// The text with its tables aligned within `width` columns, as far as their cells let them; cells in asterisks are bold
/// where standard output is coloured (models/terminal/terminal.h). What is no table stays as it is.
std::string aligned_tables(std::string_view markdown, int width = terminal_width());

}  // namespace lamina
