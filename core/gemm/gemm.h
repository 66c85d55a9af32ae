#pragma once
// Matrix products: c = op(a) * op(b), the arithmetic behind every layer.
//
//   c[i][j] = sum over p of op(a)[i][p] * op(b)[p][j]      i < m, j < n, p < k
//
// All matrices are row-major; `lda`, `ldb` and `ldc` are the row strides of the matrices as they are stored.
// The three forms that training needs, for a layer y = x W with W stored [in x out]:
//
//   forward   y  = x W        neither transposed
//   backward  dx = dy W^T     b transposed
//   weights   dW = x^T dy     a transposed, often accumulating over a batch
//
// The kernels are written for the shapes of small models: 1 to 128 rows times a matrix of weights, where a
// general BLAS spends much of its time on preparation. Results are bit-identical from run to run for a given
// number of threads and do not depend on the addresses of the buffers. NaN and infinity propagate: no zero is
// skipped.

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "core/real.h"

namespace lamina {

enum class Transpose { no, yes };
inline Transpose flipped(Transpose op) { return op == Transpose::yes ? Transpose::no : Transpose::yes; }

struct GemmOptions {
  Transpose a = Transpose::no;
  Transpose b = Transpose::no;
  bool accumulate = false;     ///< add to c instead of overwriting it
  const real* bias = nullptr;  ///< [n], added to every row of c; ignored when accumulating
};

/// c[m x n] (+)= op(a)[m x k] * op(b)[k x n] (+ bias). Uses several threads when the product is large enough,
/// and only the calling one inside a parallel region. Any size may be 0; k = 0 gives zeros or the bias, or
/// leaves c when accumulating. c must not overlap a or b.
void gemm(size_t m, size_t n, size_t k, const real* a, size_t lda, const real* b, size_t ldb, real* c,
          size_t ldc, const GemmOptions& options = {});

/// op(b)[k x n], repacked once into the layout that the kernel reads in order: for weights that many products
/// share, such as those of a recurrent layer over its steps. Packing the same size again reuses the memory;
/// large matrices are packed by several threads.
class PackedMatrix {
 public:
  void pack(Transpose op, size_t k, size_t n, const real* b, size_t ldb);
  size_t rows() const { return rows_; }        ///< k
  size_t columns() const { return columns_; }  ///< n
  const real* data() const { return data_.get(); }

 private:
  struct Release {  // returns the memory to the allocator
    size_t bytes;
    void operator()(real* memory) const;
  };
  std::unique_ptr<real, Release> data_;
  size_t rows_ = 0, columns_ = 0, capacity_ = 0;
};

inline constexpr size_t npos = static_cast<size_t>(-1);

/// What the caller reads after a product; pieces may be empty. A product leaves memory bandwidth unused, so
/// it prefetches these into L2 meanwhile, a few cache lines per tile.
using Upcoming = std::array<std::span<const real>, 6>;

/// The columns [column_begin, column_end) of c[m x n] (+)= a[m x k] * b, on the calling thread only: inside a
/// parallel region each thread takes its own rows, or its own range of columns. `c` points at column 0 of the
/// whole matrix. A `column_begin` that is not a multiple of `packed_column_step()` costs some speed.
void gemm_packed(size_t m, const real* a, size_t lda, const PackedMatrix& b, real* c, size_t ldc,
                 bool accumulate, size_t column_begin = 0, size_t column_end = npos,
                 const Upcoming& upcoming = {});

/// The number of columns in one packed panel: the natural granularity of a split by columns.
size_t packed_column_step();

/// One line for `--version`: the vector width of Lamina's kernels, and OpenBLAS's core and build.
const char* gemm_backend();

/// What `team` <= threads() threads reach together in GFLOP/s on fused multiply-adds that never leave the
/// registers: the ceiling of any product on this machine. Takes some 20 ms.
double measure_peak_gflops(int team);

}  // namespace lamina
