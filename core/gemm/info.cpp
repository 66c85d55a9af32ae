// The description of the kernels in use, and the peak that products are measured against.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/gemm/gemm.h"
#include "core/gemm/kernel.h"
#include "core/simd.h"
#include "core/threads/parallel.h"

extern "C" {
char* openblas_get_corename(void);
char* openblas_get_config(void);
}

namespace lamina {

using namespace product_kernels;

const char* gemm_backend() {
  static const std::string line = [] {
    std::string text = "own kernels with " + std::to_string(vector_bytes * 8) +
                       "-bit vectors; OpenBLAS core " + openblas_get_corename() + " (" +
                       openblas_get_config() + ")";
    if (blas_vector_bytes() < vector_bytes)  // preset so, or OpenBLAS is older than the CPU
      text += std::string(", which has narrower vectors than this CPU: set OPENBLAS_CORETYPE=") +
              (vector_bytes == 64 ? "SkylakeX" : "Haswell");
    return text;
  }();
  return line.c_str();
}

namespace {

/// Independent multiply-adds in registers: enough of them to hide their latency. Returns a number that
/// depends on all of them, so that the compiler can remove none.
real multiply_add_loop(int rounds, real factor) {
  constexpr int chains = vector_registers == 32 ? 24 : 12;
  const vec x = splat(factor);
  vec sum[chains];
  for (int i = 0; i < chains; ++i) sum[i] = splat(static_cast<real>(i));
  for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < chains; ++i) sum[i] = sum[i] * x + x;
  }
  for (int i = 1; i < chains; ++i) sum[0] += sum[i];
  return sum[0][0];
}

}  // namespace

double measure_peak_gflops(int team) {
  team = std::min(team, threads());
  constexpr int rounds = 20000, chains = vector_registers == 32 ? 24 : 12;
  constexpr double flops = 2.0 * rounds * chains * lanes;
  volatile real factor = real{1} - real{1} / 1024;
  double best = 1e30;
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<double> seconds(static_cast<size_t>(team));
    const auto member = [&](size_t id) {
      if (team > 1) barrier();
      const auto begin = std::chrono::steady_clock::now();
      volatile real result = multiply_add_loop(rounds, factor);  // written before the clock is read again
      seconds[id] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      (void)result;
    };
    if (team > 1)
      for_each_member(static_cast<size_t>(team), member);
    else
      member(0);
    best = std::min(best, *std::ranges::max_element(seconds));
  }
  return flops * team / best / 1e9;
}

}  // namespace lamina
