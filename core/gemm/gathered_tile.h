#pragma once
// The register tile of convolutions: a matrix product whose first matrix is never stored.
//
// A convolution is a product of patches and weights. Patch i holds, for every tap p (a place in the kernel's
// window and a channel), one number of the image, and the matrix of all patches repeats every number as often
// as windows overlap there: 25 times for a 5 x 5 kernel. But its element (i, p) lies at
//
//   image[row[i] + step[p]]        row[i]: where window i begins;  step[p]: where tap p is inside a window
//
// so two short tables of offsets replace it. The tile reads through them as it multiplies:
//
//   c[i][j] = addend[i][j] + sum over p of a[row[i] + step[p]] * b[p][j]
//
// With the tables exchanged the same tile multiplies by the transposed matrix, which the gradient of the
// weights needs.

#include <cstddef>

#include "core/gemm/kernel.h"

namespace lamina::product_kernels {

/// The first matrix: element (i, p) is at data[row[i] + step[p]].
struct Gathered {
  const real* data;
  const size_t* row;
  const size_t* step;
};

/// c[rows x columns] (+)= a[rows x k] * b, on the calling thread. b is one packed panel [k x panel_columns]
/// (pack_panel); columns <= panel_columns. The addend may be null; its row stride may be 0 (a bias) and it
/// may be c.
void multiply_gathered(size_t rows, size_t columns, size_t k, const Gathered& a, const real* b, real* c,
                       size_t c_row, const real* addend, size_t addend_row);

}  // namespace lamina::product_kernels
