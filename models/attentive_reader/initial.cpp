#include "models/attentive_reader/initial.h"

#include <algorithm>
#include <cmath>

namespace lamina::attentive_reader {

Initializer uniform_by_size() {
  return [](const Shape& shape, const Random& random) {
    const auto sides = static_cast<real>(shape.rows() + shape.columns() + 1);
    return uniform(std::sqrt(6 / sides))(shape, random);
  };
}

Initializer square_or_uniform(size_t outputs) {
  return [=](const Shape& shape, const Random& random) {
    const size_t inputs = shape.rows(), width = shape.columns();
    const Initializer initial = inputs == outputs ? orthogonal(real(0.05)) : uniform_by_size();
    Tensor weight(shape);
    for (size_t first = 0; first < width; first += outputs) {
      const Tensor block = initial({inputs, outputs}, random.split(first / outputs));
      for (size_t r = 0; r < inputs; ++r)
        std::copy_n(block.data() + r * outputs, outputs, weight.data() + r * width + first);
    }
    return weight;
  };
}

}  // namespace lamina::attentive_reader
