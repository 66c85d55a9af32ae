#pragma once
// An op that changes nothing in the forward pass and keeps gradients small in the backward pass.

#include "core/tensor.h"

namespace lamina {

/// y = x, but every element of dL/dx is dL/dy kept within [-bound, bound] (Graves 2013, Section 2.1). Throws
/// Error when the bound is not positive.
Tensor clip_gradient(const Tensor& x, real bound);

}  // namespace lamina
