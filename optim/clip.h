#pragma once
// Gradient clipping: called between backward() and the optimizer's step().

#include <functional>
#include <initializer_list>
#include <string>

#include "core/parameters.h"

namespace lamina {

/// norm2 of all gradients together, except those of frozen parameters: correct for all finite gradients,
/// infinity when it exceeds the range of real.
real gradient_norm(Parameters& parameters);

/// Scales all gradients by one factor so that their common norm is at most `limit`; returns the norm before. Finite
/// gradients are scaled correctly even where that norm, or an intermediate square, exceeds the range of float. Throws
/// Error when the limit is not positive or `times` negative or not finite, and NotFinite for a gradient that holds a
/// NaN or an infinity, or for a norm beyond the range of double, before anything is scaled. (Pascanu et al. 2013) All
/// gradients are first multiplied by `times`, in the same pass: times = N turns those of a mean over N terms into those of
/// the sum.
real clip_gradient_norm(Parameters& parameters, real limit, real times = 1);

/// The same for the common norm of several models: clip_gradient_norm({encoder, decoder}, 1). Name each one
/// once.
real clip_gradient_norm(std::initializer_list<std::reference_wrapper<Parameters>> all, real limit,
                        real times = 1);

/// The same for each parameter tensor separately. One of which `seam`, if given, names a column counts as two: the columns
/// [0, seam) and those from there on, as of gates that stand side by side. 0 means none; a column beyond the tensor's is an
/// Error.
void clip_each_gradient_norm(Parameters& parameters, real limit,
                             const std::function<size_t(const std::string& name)>& seam = {});

}  // namespace lamina
