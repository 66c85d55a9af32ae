#pragma once
// Gradient clipping: called between backward() and the optimizer's step().

#include <functional>
#include <initializer_list>

#include "core/parameters.h"

namespace lamina {

/// norm2 of all gradients together, but those of frozen parameters: right for all finite gradients, infinity when it is itself beyond the range
/// of real.
real gradient_norm(Parameters& parameters);

/// Scales all gradients by one factor so that their common norm is at most `limit`; returns the norm before.
/// Finite gradients are scaled rightly even where that norm, or a square on the way to it, is beyond the range
/// of float. Throws Error when the limit is not positive, and NotFinite for a gradient that holds a NaN or an
/// infinity, before anything is scaled. (Pascanu et al. 2013) All gradients are multiplied by
/// `times` before: those of a mean over N terms become those of the sum, times = N, in the same pass.
real clip_gradient_norm(Parameters& parameters, real limit, real times = 1);

/// The same for the common norm of several: clip_gradient_norm({encoder, decoder}, 1). Names each one once.
real clip_gradient_norm(std::initializer_list<std::reference_wrapper<Parameters>> all, real limit,
                        real times = 1);

/// The same for each parameter tensor by itself.
void clip_each_gradient_norm(Parameters& parameters, real limit);

}  // namespace lamina
