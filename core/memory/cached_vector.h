#pragma once
// A std::vector and a std::string whose memory comes from the caching allocator: for what a closure on the tape has to
// keep, such as labels.

#include <string>
#include <vector>

#include "core/memory/allocator.h"

namespace lamina {

template <class T>
struct CachingAllocator {
  using value_type = T;
  CachingAllocator() = default;
  template <class U>
  CachingAllocator(const CachingAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert
  T* allocate(size_t count) { return static_cast<T*>(memory::allocate(count * sizeof(T))); }
  void deallocate(T* block, size_t count) { memory::release(block, count * sizeof(T)); }
  bool operator==(const CachingAllocator&) const = default;
};

template <class T>
using CachedVector = std::vector<T, CachingAllocator<T>>;

using CachedString = std::basic_string<char, std::char_traits<char>, CachingAllocator<char>>;

}  // namespace lamina
