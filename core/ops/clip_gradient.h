#pragma once
// An op that changes nothing on the way forward and keeps gradients small on the way back.

#include "core/tensor.h"

namespace lamina {

/// y = x, but every element of dL/dx is dL/dy kept within [-bound, bound] (Graves 2013, Section 2.1). Throws
/// Error when the bound is not positive.
Tensor clip_gradient(const Tensor& x, real bound);

}  // namespace lamina
