#include "core/gemm/small_product.h"

#include <algorithm>

#include "core/gemm/gathered_tile.h"

namespace lamina {

using namespace product_kernels;

namespace {

/// Whether reading a in place pays (measured on one thread, AVX-512: 1.1 to 1.5 times as fast at 16 to 128
/// rows and columns). With a long k the tile's rows would compete for L1; with few rows packing b does not
/// pay.
bool suits_reading_in_place(size_t m, size_t n, size_t k) {
  return m >= 8 && n >= 8 && k > 0 && k <= 256 && m * n * k <= size_t{8} << 20;
}

}  // namespace

SmallProduct::SmallProduct(size_t m, size_t n, size_t k, Transpose a_op, size_t lda, Transpose b_op,
                           size_t ldb)
    : m_(m), n_(n), k_(k), lda_(lda), ldb_(ldb), a_op_(a_op), b_op_(b_op) {
  if (!suits_reading_in_place(m, n, k)) return;
  row_.resize(m);
  step_.resize(k);
  for (size_t i = 0; i < m; ++i) row_[i] = a_op == Transpose::yes ? i : i * lda;
  for (size_t p = 0; p < k; ++p) step_[p] = a_op == Transpose::yes ? p * lda : p;
}

void SmallProduct::operator()(const real* a, const real* b, real* c, bool accumulate) const {
  if (row_.empty()) {
    gemm(m_, n_, k_, a, lda_, b, ldb_, c, n_, {.a = a_op_, .b = b_op_, .accumulate = accumulate});
    return;
  }
  real* const panel = scratch<PanelOfB>(panel_columns * k_);
  for (size_t j = 0; j < n_; j += panel_columns) {
    const size_t columns = std::min(panel_columns, n_ - j);
    pack_panel(b_op_, k_, columns, b + (b_op_ == Transpose::yes ? j * ldb_ : j), ldb_, panel);
    multiply_gathered(m_, columns, k_, {a, row_.data(), step_.data()}, panel, c + j, n_,
                      accumulate ? c + j : nullptr, n_);
  }
}

}  // namespace lamina
