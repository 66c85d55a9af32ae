#pragma once
// Calls of OpenBLAS, and of the LAPACK in it, that use the calling thread alone.

#include <omp.h>

extern "C" {
int openblas_get_parallel(void);
void openblas_set_num_threads(int);
}

namespace lamina::product_kernels {

/// Keeps OpenBLAS to the calling thread for as long as it lives. Lamina's threads already divide the work: a
/// second set would compete for the cores, and the way OpenBLAS splits a product changes the last bits. Its
/// OpenMP build asks OpenMP how many threads it may use, a setting per thread: it is restored, for programs
/// that use OpenMP themselves. Its build with its own threads has one global setting, which is not restored.
class OnThisThread {
 public:
  OnThisThread() : before_(omp_get_max_threads()) {
    if (before_ > 1) omp_set_num_threads(1);
    constexpr int own_threads = 1;
    [[maybe_unused]] static const bool told = [] {
      if (openblas_get_parallel() == own_threads) openblas_set_num_threads(1);
      return true;
    }();
  }
  ~OnThisThread() {
    if (before_ > 1) omp_set_num_threads(before_);
  }
  OnThisThread(const OnThisThread&) = delete;
  OnThisThread& operator=(const OnThisThread&) = delete;

 private:
  int before_;
};

}  // namespace lamina::product_kernels
