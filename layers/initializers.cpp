#include "layers/initializers.h"

#include <cmath>

#include "core/sum.h"

namespace lamina {

Initializer constant(real value) {
  return [=](const Shape& shape, const Random&) { return Tensor::full(shape, value); };
}

Initializer normal(real deviation) {
  return [=](const Shape& shape, Random random) {
    Tensor weight(shape);
    random.fill_normal(weight.data(), weight.size(), 0, deviation);
    return weight;
  };
}

Initializer uniform(real bound) {
  return [=](const Shape& shape, Random random) {
    Tensor weight(shape);
    random.fill_uniform(weight.data(), weight.size(), -bound, bound);
    return weight;
  };
}

Initializer xavier() {
  return [](const Shape& shape, const Random& random) {
    const auto fan = static_cast<real>(shape.rows() + shape.columns());
    return normal(std::sqrt(2 / fan))(shape, random);
  };
}

Initializer xavier_uniform() {
  return [](const Shape& shape, const Random& random) {
    const auto fan = static_cast<real>(shape.rows() + shape.columns());
    return uniform(std::sqrt(6 / fan))(shape, random);
  };
}

Initializer he() {
  return [](const Shape& shape, const Random& random) {
    return normal(std::sqrt(2 / static_cast<real>(shape.rows())))(shape, random);
  };
}

namespace {

/// Makes the `count` vectors x[i * stride + k * step], k < length, orthonormal by Gram and Schmidt. Each
/// projection is taken twice: once is not enough in floating point.
void orthonormalize(real* x, size_t count, size_t length, size_t stride, size_t step) {
  const auto dot = [=](size_t i, size_t j) {
    return sum_over(length, [=](size_t k) { return x[i * stride + k * step] * x[j * stride + k * step]; });
  };
  for (size_t i = 0; i < count; ++i) {
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t j = 0; j < i; ++j) {
        const real along = dot(i, j);
        for (size_t k = 0; k < length; ++k) x[i * stride + k * step] -= along * x[j * stride + k * step];
      }
    }
    const real scale = 1 / std::sqrt(dot(i, i));
    for (size_t k = 0; k < length; ++k) x[i * stride + k * step] *= scale;
  }
}

}  // namespace

Initializer orthogonal(real scale) {
  return [=](const Shape& shape, const Random& random) {
    Tensor weight = normal(1)(shape, random);
    const size_t rows = shape.rows(), columns = shape.columns();
    if (rows <= columns)
      orthonormalize(weight.data(), rows, columns, columns, 1);
    else
      orthonormalize(weight.data(), columns, rows, 1, columns);
    for (real& value : weight.values()) value *= scale;
    return weight;
  };
}

}  // namespace lamina
