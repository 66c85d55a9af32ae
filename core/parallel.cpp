#include "core/parallel.h"

#include <algorithm>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace lamina {

namespace {

int thread_count = 0;

void flush_denormals_on_this_thread() {
#if defined(__SSE2__)
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#endif
}

}  // namespace

void set_threads(int count) {
  // The matrix products split their work by this number, so OpenMP must not give fewer threads than that.
  omp_set_dynamic(0);
  thread_count = std::min(count > 0 ? count : omp_get_num_procs(), omp_get_thread_limit());
  omp_set_num_threads(thread_count);
  flush_denormals_on_this_thread();  // first: clang's OpenMP hands the calling thread's mode to the team
#pragma omp parallel num_threads(thread_count)
  flush_denormals_on_this_thread();
}

int threads() {
  if (thread_count == 0) set_threads(0);
  return thread_count;
}

}  // namespace lamina
