#include "models/lab/statistics/people.h"

#include <cmath>

namespace lamina::lab {

namespace {

constexpr real youngest = 20, oldest = 80, shorter = 165, taller = 178, height_deviation = 7;
constexpr real mean_age = (youngest + oldest) / 2, mean_height = (shorter + taller) / 2;

/// Of a uniform distribution: its width / sqrt(12).
real age_deviation() { return (oldest - youngest) / std::sqrt(real(12)); }

/// Of both genders together.
real whole_height_deviation() { return std::hypot(height_deviation, (taller - shorter) / 2); }

real score(real age, real gender, real height) {
  const real a = (age - mean_age) / age_deviation(), g = 2 * gender - 1;
  const real h = (height - (gender > 0 ? taller : shorter)) / height_deviation;
  return h + g * a + (a * a - 1) / 2;
}

}  // namespace

People draw_people(size_t cases, size_t people, Random& random) {
  People drawn{Tensor({cases, 3 * people}), Tensor({cases, 1})};
  for (size_t i = 0; i < cases; ++i) {
    real sum = 0;
    for (size_t j = 0; j < people; ++j) {
      real* const person = drawn.x.data() + 3 * (i * people + j);
      person[0] = random.uniform(youngest, oldest);
      person[1] = static_cast<real>(random.below(2));
      person[2] = (person[1] > 0 ? taller : shorter) + height_deviation * random.normal();
      sum += score(person[0], person[1], person[2]);
    }
    drawn.y[i] = sum / std::sqrt(static_cast<real>(people)) + real(0.1) * random.normal();
  }
  return drawn;
}

Tensor alike(const Tensor& x) {
  Tensor same = x.copy();
  for (size_t i = 0; i < same.size(); i += 3) {
    same[i] = (same[i] - mean_age) / age_deviation();
    same[i + 1] = 2 * same[i + 1] - 1;
    same[i + 2] = (same[i + 2] - mean_height) / whole_height_deviation();
  }
  return same;
}

}  // namespace lamina::lab
