#pragma once
// What standard output is: a terminal that can redraw a line, its width, and whether it is to be coloured.

#include <string>
#include <string_view>

namespace lamina {

/// Whether standard output is a terminal that can redraw a line.
bool redraws();
/// Its columns now, since a window can be resized; 80 where it is no terminal.
int terminal_width();

/// Whether standard output is shown in colour: on such a terminal, unless the environment variable NO_COLOR is set and not
/// empty (no-color.org).
bool colours();

/// The text in bold where there are colours, as it is elsewhere.
std::string bold(std::string_view text);

}  // namespace lamina
