#include "tools/peers/heap_allocations.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

// A sanitizer's allocator must not be replaced.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static std::atomic<size_t> calls{0};

// The program's own definitions take precedence over the C library's, which stay reachable by these names.
// operator new ends in malloc.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  ++calls;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++calls;
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) {
  ++calls;
  return __libc_realloc(block, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  ++calls;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++calls;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, size_t alignment, size_t bytes) {
  ++calls;
  *block = __libc_memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}
}

std::optional<size_t> lamina::heap_allocations() { return calls.load(); }
#else
std::optional<size_t> lamina::heap_allocations() { return {}; }
#endif
