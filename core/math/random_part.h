#pragma once
// A part of an array of random numbers whose other parts someone else draws.

#include <cstddef>

#include "core/math/random.h"

namespace lamina {

/// Numbers `first` to `first` + `count` - 1 of those that random.fill_uniform would draw now, which are not used up.
void fill_uniform_part(const Random& random, size_t first, real* values, size_t count, real low, real high);

/// Passes over the numbers of a fill_uniform of this count.
void skip_uniform(Random& random, size_t count);

}  // namespace lamina
