// What the products run on, and the ceiling they are measured against.

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "core/gemm.h"
#include "core/gemm_vector.h"

extern "C" {
char* openblas_get_corename(void);
char* openblas_get_config(void);
}

namespace lamina {

using namespace gemm_detail;

const char* gemm_backend() {
  static const std::string line = "own kernels with " + std::to_string(vector_bytes * 8) +
                                  "-bit vectors; OpenBLAS core " + openblas_get_corename() + " (" +
                                  openblas_get_config() + ")";
  return line.c_str();
}

namespace {

/// Independent multiply-adds in registers: enough of them to hide their latency. Returns a number that
/// depends on all of them, so that none can be left out.
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

double measure_peak_gflops(int threads) {
  constexpr int rounds = 20000, chains = vector_registers == 32 ? 24 : 12;
  constexpr double flops = 2.0 * rounds * chains * lanes;
  volatile real factor = real{1} - real{1} / 1024;
  volatile real sink = 0;
  double best = 1e30;
  for (int repeat = 0; repeat < 20; ++repeat) {
    double slowest = 0;
#pragma omp parallel num_threads(threads) reduction(max : slowest)
    {
#pragma omp barrier
      const auto begin = std::chrono::steady_clock::now();
      const real result = multiply_add_loop(rounds, factor);
      slowest = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
#pragma omp critical
      sink = sink + result;
    }
    best = std::min(best, slowest);
  }
  return flops * threads / best / 1e9;
}

}  // namespace lamina
