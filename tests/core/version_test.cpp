// The library's version information.

#include "core/version.h"

#include <doctest/doctest.h>

#include <string>

#include "core/gemm/gemm.h"

using namespace lamina;

TEST_CASE("kernels() names the vectors whose bits gemm_backend() counts") {
  const std::string name = kernels(), line = gemm_backend();
  const std::string bits = name == "AVX-512" ? "512-bit" : name == "AVX2" ? "256-bit" : "128-bit";
  CHECK_MESSAGE(line.find("own kernels with " + bits) == 0, name, ": ", line);
}
