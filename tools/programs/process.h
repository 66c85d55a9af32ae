#pragma once
// What a program asks of its process before it does anything.

namespace lamina {

/// Standard streams that the caller closed (`>&-`) get a place-holder that can only be read: else the next file
/// that is opened would take their number, and what is printed would go into it. A write beyond `ulimit -f` fails,
/// and is reported like a full disk, instead of killing the program.
void prepare_process();

/// From here on what is printed on standard output goes nowhere.
void silence_output();

}  // namespace lamina
