#pragma once
// Tensors as text, for people to read:
//
//   std::cout << Tensor::from({2, 3}, {1, 2, 3, 4, 5, 60});
//
//   [2 x 3]
//   [[ 1  2  3]
//    [ 4  5 60]]

#include <ostream>

#include "core/tensor.h"

namespace lamina {

/// Writes the shape, and below it the values in brackets, as NumPy does: each as the stream writes a number
/// (6 digits unless std::setprecision says otherwise), in columns of the same width, long rows broken before
/// column 80. Of more than 1000 elements the first and the last three along each axis are shown, and "..."
/// between them. Scalars and vectors that fit take a single line; of an empty handle only the name is
/// written.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace lamina
