#pragma once
// Sums and means. Every reduction runs in a fixed order, so results repeat bit for bit.

#include "core/tensor.h"

namespace lamina {

Tensor sum(const Tensor& x);           ///< all elements -> scalar
Tensor mean(const Tensor& x);          ///< all elements -> scalar; Error when there are none
Tensor mean_square(const Tensor& x);   ///< of all elements -> scalar; Error when there are none
Tensor sum_columns(const Tensor& x);   ///< over the last axis: [... x C] -> [... x 1]
Tensor mean_columns(const Tensor& x);  ///< over the last axis: [... x C] -> [... x 1]; Error when C is 0
Tensor sum_rows(const Tensor& x);      ///< over all axes but the last: [... x C] -> [C]
Tensor mean_rows(const Tensor& x);     ///< over all axes but the last: [... x C] -> [C]; Error without rows

namespace composed {
Tensor mean_square(const Tensor& x);
}

}  // namespace lamina
