#pragma once
// A made-up regression on inputs of unlike kinds: age, gender and height of one or several people.

#include "core/math/random.h"
#include "core/tensor.h"

namespace lamina::lab {

struct People {
  Tensor
      x;  ///< [cases x 3 people]: age in years, gender 0 or 1, height in centimetres, of each person in turn
  Tensor y;  ///< [cases x 1]
};

/// Age uniform in [20, 80), either gender as often, height normal about 165 or 178 with deviation 7. The target is the
/// sum over the people, divided by the root of their number, of
///
///   s = (height - mean height of the gender) / 7 + g a + (a^2 - 1) / 2,  g = -1 or 1,  a = age as standard deviations
///
/// which needs each of the three, with variances of 1, 1 and 0.2; and noise of deviation 0.1.
People draw_people(size_t cases, size_t people, Random& random);

/// The same people with each feature shifted and scaled to mean 0 and deviation 1 in the population: features of one
/// scale, which say the same.
Tensor alike(const Tensor& x);

}  // namespace lamina::lab
