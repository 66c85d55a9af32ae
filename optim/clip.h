#pragma once
// Gradient clipping: called between backward() and the optimizer's step().

#include "core/parameters.h"

namespace lamina {

/// norm2 of all gradients together.
real gradient_norm(Parameters& parameters);

/// Scales all gradients by one factor so that their common norm is at most `limit`; returns the norm before.
/// Throws Error when the limit is not positive. (Pascanu et al. 2013)
real clip_gradient_norm(Parameters& parameters, real limit);

/// The same for each parameter tensor by itself.
void clip_each_gradient_norm(Parameters& parameters, real limit);

}  // namespace lamina
