#pragma once
// Counts what a program takes from the heap. A program that is linked with heap_allocations.cpp has its own malloc, so only
// programs that ask are.

#include <cstddef>
#include <optional>

namespace lamina {

/// Calls of malloc and its kin so far, those of operator new, OpenMP and BLAS included. Nothing in builds with sanitizers, which
/// bring their own allocator.
std::optional<size_t> heap_allocations();

}  // namespace lamina
