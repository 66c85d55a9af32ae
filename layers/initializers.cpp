#include "layers/initializers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/gemm/gemm.h"
#include "core/math/sum.h"

namespace lamina {

Tensor initial_values(const Initializer& initial, const std::string& parameter, const Shape& shape,
                      const Random& random) {
  Tensor values = initial(shape, random);
  if (!values.defined() || values.shape() != shape)
    fail("initializer of '", parameter, "': its result is ", values.shape(), "; it must be ", shape,
         ", the shape that it was called with");
  return values;
}

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

/// Makes `count` rows [count x length] orthonormal among themselves, in order (Gram and Schmidt).
void orthonormalize_few(real* x, size_t count, size_t length) {
  const auto dot = [=](size_t i, size_t j) {
    return sum_over(length, [=](size_t k) { return x[i * length + k] * x[j * length + k]; });
  };
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const real along = dot(i, j);
      for (size_t k = 0; k < length; ++k) x[i * length + k] -= along * x[j * length + k];
    }
    const real scale = 1 / std::sqrt(dot(i, i));
    for (size_t k = 0; k < length; ++k) x[i * length + k] *= scale;
  }
}

/// Makes the rows x [count x length], count <= length, orthonormal: from one block after another the
/// projection onto the previous rows is removed, X -= (X Q^T) Q, and the block is then made orthonormal in
/// itself. Both are done twice: once is not enough in floating point.
void orthonormalize(real* x, size_t count, size_t length) {
  constexpr size_t block = 32;
  std::vector<real> along(block * count);
  for (size_t begin = 0; begin < count; begin += block) {
    const size_t rows = std::min(block, count - begin);
    real* const some = x + begin * length;
    for (int pass = 0; pass < 2; ++pass) {
      gemm(rows, begin, length, some, length, x, length, along.data(), begin, {.b = Transpose::yes});
      for (size_t i = 0; i < rows * begin; ++i) along[i] = -along[i];
      gemm(rows, length, begin, along.data(), begin, x, length, some, length, {.accumulate = true});
      orthonormalize_few(some, rows, length);
    }
  }
}

/// [rows x columns] from in [columns x rows].
void transpose(const real* in, size_t rows, size_t columns, real* out) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) out[i * columns + j] = in[j * rows + i];
}

}  // namespace

Initializer orthogonal(real scale) {
  return [=](const Shape& shape, const Random& random) {
    Tensor weight = normal(1)(shape, random);
    const size_t rows = shape.rows(), columns = shape.columns();
    if (rows <= columns) {
      orthonormalize(weight.data(), rows, columns);
    } else {
      std::vector<real> by_columns(weight.size());
      transpose(weight.data(), columns, rows, by_columns.data());
      orthonormalize(by_columns.data(), columns, rows);
      transpose(by_columns.data(), rows, columns, weight.data());
    }
    for (real& value : weight.values()) value *= scale;
    return weight;
  };
}

}  // namespace lamina
