#pragma once
// Many products of one small size, as the heads of attention are.
//
// A large product first copies its first matrix into the order in which the register tile reads it. In a
// small one nothing is read often enough to pay for that: here the tile reads the matrix in place, through
// two short tables of offsets (gathered_tile.h) that all products of the size share.

#include "core/gemm/gemm.h"
#include "core/memory/cached_vector.h"

namespace lamina {

class SmallProduct {
 public:
  /// For c[m x n] (+)= op(a)[m x k] * op(b)[k x n], with strides as in gemm().
  SmallProduct(size_t m, size_t n, size_t k, Transpose a_op, size_t lda, Transpose b_op, size_t ldb);

  /// One product, on several threads only where gemm() is the better way and uses them. c is contiguous.
  void operator()(const real* a, const real* b, real* c, bool accumulate) const;

 private:
  size_t m_, n_, k_, lda_, ldb_;
  Transpose a_op_, b_op_;
  CachedVector<size_t> row_,
      step_;  ///< element (i, p) of op(a) is at row_[i] + step_[p]; empty: gemm() is better
};

}  // namespace lamina
