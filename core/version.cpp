#include "core/version.h"

#include "core/simd.h"

#ifndef LAMINA_COMMIT
#define LAMINA_COMMIT "unknown"
#endif

namespace lamina {

const char* commit() { return LAMINA_COMMIT; }

const char* kernels() {
  using simd::vector_bytes;
  return vector_bytes == 64 ? "AVX-512" : vector_bytes == 32 ? "AVX2" : "128-bit";
}

}  // namespace lamina
