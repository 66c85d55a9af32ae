#pragma once
// Rows scaled to length 1: points on the sphere, whose inner products are cosines.

#include "core/tensor.h"

namespace lamina {

/// y_r = x_r / norm2(x_r) for every row of x [... x C]; a row of zeros stays zero and gets no gradient; a row
/// of finite numbers whose length exceeds the largest real becomes zero, also without gradient.
Tensor unit_rows(const Tensor& x);

namespace composed {
/// The same from primitive ops, for rows that are not zero and whose squares are in the range of real.
Tensor unit_rows(const Tensor& x);
}  // namespace composed

}  // namespace lamina
