#pragma once
// A caching allocator. A training step asks for the same sizes every time, so released blocks are kept in
// lists by size and handed out again: from the second step on, nothing goes to the system.

#include "core/real.h"

namespace lamina::memory {

/// A block of at least `bytes`, aligned to 64 bytes (a cache line and the widest vector). Contents: anything.
void* allocate(size_t bytes);

/// Releases a block; `bytes` as requested.
void release(void* block, size_t bytes);

struct Statistics {
  size_t bytes_in_use;        ///< handed out now
  size_t bytes_cached;        ///< released, kept for reuse
  size_t system_allocations;  ///< calls to the system so far: constant in a steady state
};
Statistics statistics();

/// Returns all cached blocks to the system.
void trim();

}  // namespace lamina::memory
