// OpenBLAS works on the thread that calls it: runs repeat bit for bit, and no second set of threads appears.

#include <doctest/doctest.h>
#include <omp.h>

#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "core/gemm/kernel.h"
#include "core/threads/parallel.h"

using namespace lamina;

namespace {

/// A product large enough for OpenBLAS to split it, with sides that leave remainders.
struct Example {
  size_t m = 251, n = 601, k = 307;
  std::vector<real> a = numbers(m * k, 7919), b = numbers(k * n, 104729);

  static std::vector<real> numbers(size_t count, size_t step) {
    std::vector<real> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = static_cast<real>(i * step % 1009) / real{1009} - real{0.5};
    return values;
  }

  std::vector<real> product() const {
    std::vector<real> c(m * n);
    product_kernels::blas_product({.m = m,
                                   .n = n,
                                   .k = k,
                                   .a_op = Transpose::no,
                                   .b_op = Transpose::no,
                                   .a = a.data(),
                                   .lda = k,
                                   .b = b.data(),
                                   .ldb = n,
                                   .c = {c.data(), n, 1},
                                   .addend = {}});
    return c;
  }
};

/// The number of threads of this process.
long threads_there() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("gemm by OpenBLAS: the same bits from every share and every time, without threads of its own") {
  const Example example;
  const std::vector<real> expected = example.product();
  for (const int team : {2, 3}) {
    set_threads(team);
    const long before = threads_there();
    for (int repeat = 0; repeat < 10; ++repeat) {
      std::vector<std::vector<real>> results(4);
      for_each_share(results.size(), [&](size_t share) { results[share] = example.product(); });
      for (const std::vector<real>& result : results) CHECK(result == expected);
    }
    CHECK(threads_there() == before);
  }
  set_threads(0);
}

TEST_CASE("gemm by OpenBLAS: a program's own choice of OpenMP threads is left as it was") {
  const Example example;
  const std::vector<real> expected = example.product();
  std::vector<real> result;
  int left = 0;
  long before = 0, after = 0;
  std::thread([&] {
    omp_set_num_threads(4);
    before = threads_there();
    (void)product_kernels::blas_vector_bytes();
    result = example.product();
    after = threads_there();
    left = omp_get_max_threads();
  }).join();
  CHECK(result == expected);
  CHECK(after == before);
  CHECK(left == 4);
}
