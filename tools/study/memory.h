#pragma once
// How much memory programs can still take.

#include <cstddef>
#include <span>

namespace lamina {

/// In bytes: what the system calls available, or what is left of the limit of this process's control groups when that is
/// less. The largest number when neither can be read.
std::size_t available_memory();

/// Of a run at work: what it holds now, and the most that it is known to come to.
struct RunMemory {
  std::size_t now = 0, peak = 0;
};

/// Whether one more run fits that comes to `peak` bytes, while those at work still grow to theirs. Until a run has been
/// `measured` through an evaluation, a peak is a guess, and four times as much must be there.
bool fits_beside(std::span<const RunMemory> at_work, std::size_t peak, bool measured, std::size_t available);

}  // namespace lamina
