// OpenBLAS as a backend: for the products where it is at least as fast as the kernels here.
//
// It picks its kernels when the program starts, by the CPU it finds or by OPENBLAS_CORETYPE, so its speed is
// known only then. A core with wider vectors than this library was compiled for wins everywhere but on the
// smallest products; one with the same vectors wins on large matrices, where packing is amortized.

#include <cblas.h>

#include <algorithm>
#include <string>

#include "core/gemm/blas_thread.h"
#include "core/gemm/kernel.h"

extern "C" char* openblas_get_corename(void);

namespace lamina::product_kernels {

int blas_vector_bytes() {
  static const int bytes = [] {
    const std::string core = openblas_get_corename();
    for (const char* wide : {"SkylakeX", "Cooperlake", "Sapphirerapids", "SapphireRapids"})
      if (core == wide) return 64;
    for (const char* middle : {"Haswell", "Zen"})
      if (core == middle) return 32;
    return 16;
  }();
  return bytes;
}

namespace {

CBLAS_TRANSPOSE blas(Transpose op) { return op == Transpose::yes ? CblasTrans : CblasNoTrans; }

}  // namespace

bool blas_is_faster(size_t m, size_t n, size_t k) {
  // Same vectors: at 2048 in every direction OpenBLAS was 4% ahead, at 4000 x 1600 x 400 it was 8% behind
  // (measured, AVX-512, one thread); the limit between the two is a guess.
  constexpr size_t large = 1536;
  constexpr double small_work = 64e3;  // with wider vectors faster above this many multiply-adds; an estimate
  const int bytes = blas_vector_bytes();
  if (bytes > vector_bytes || vector_bytes == 16)
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) > small_work;
  return bytes == vector_bytes && std::min({m, n, k}) >= large;
}

void blas_product(const Product& q) {
  const bool add = q.addend.data != nullptr;
  if (add && q.addend.data != q.c.data)  // a bias
    for (size_t i = 0; i < q.m; ++i)
      for (size_t j = 0; j < q.n; ++j) q.c.data[i * q.c.row + j] = q.addend.data[j];
  const auto size = [](size_t value) { return static_cast<blasint>(value); };
#ifdef LAMINA_DOUBLE
  constexpr auto product = cblas_dgemm;
#else
  constexpr auto product = cblas_sgemm;
#endif
  // A stride smaller than the width is an error to BLAS even where there is only one row.
  const size_t a_width = q.a_op == Transpose::yes ? q.m : q.k, b_width = q.b_op == Transpose::yes ? q.k : q.n;
  const OnThisThread only;
  product(CblasRowMajor, blas(q.a_op), blas(q.b_op), size(q.m), size(q.n), size(q.k), real{1}, q.a,
          size(std::max(q.lda, a_width)), q.b, size(std::max(q.ldb, b_width)), add ? real{1} : real{0},
          q.c.data, size(std::max(q.c.row, q.n)));
}

}  // namespace lamina::product_kernels
