#pragma once
// A std::vector and a std::string whose memory comes from the pool: for what a closure on the tape has to
// keep, such as labels.

#include <string>
#include <vector>

#include "core/memory/allocator.h"

namespace lamina {

template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert
  T* allocate(size_t count) { return static_cast<T*>(pool::allocate(count * sizeof(T))); }
  void deallocate(T* block, size_t count) { pool::release(block, count * sizeof(T)); }
  bool operator==(const PoolAllocator&) const = default;
};

template <class T>
using PoolVector = std::vector<T, PoolAllocator<T>>;

using PoolString = std::basic_string<char, std::char_traits<char>, PoolAllocator<char>>;

}  // namespace lamina
