#pragma once
// What a program asks of its process before it does anything, and how it becomes another program.

#include <string>
#include <vector>

namespace lamina {

/// Standard streams that the caller closed (`>&-`) get a place-holder that can only be read: else the next file
/// that is opened would take their number, and what is printed would go into it. A write beyond `ulimit -f` fails,
/// and is reported like a full disk, instead of killing the program.
void prepare_process();

/// From here on what is printed on standard output goes nowhere.
void silence_output();

/// A program's words as exec() and posix_spawn() take them: pointers to them, and a null pointer at the end.
std::vector<char*> arguments_of(std::vector<std::string>& words);

/// The theory commands compare numbers to 1e-8, which float cannot hold, while `real` is one type for the
/// whole library. So there are two programs: `lamina`, and the same built in double beside it, which `make`
/// names lamina-double. To the user they are one: in the double build this does nothing; in the float build it lets
/// lamina-double go on in place of this process, with the same arguments. Throws Error when it is not there.
void continue_in_double();

}  // namespace lamina
