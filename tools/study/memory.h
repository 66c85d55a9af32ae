#pragma once
// How much memory programs can still take.

#include <cstddef>

namespace lamina {

/// In bytes: what the system calls available, or what is left of the limit of this process's control group when that is
/// less. The largest number when neither can be read.
std::size_t available_memory();

}  // namespace lamina
