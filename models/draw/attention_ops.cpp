// Reading and writing for a whole batch, from primitive ops; what glimpses.cpp and sampling need besides.

#include <algorithm>
#include <array>
#include <vector>

#include "core/ops.h"
#include "core/tape.h"
#include "models/draw/attention.h"

namespace lamina::draw {

namespace {

void require(const char* op, const Tensor& tensor, const Shape& shape, const char* name) {
  if (tensor.shape() != shape)
    fail("draw ", op, ": the ", name, " is ", tensor.shape(), "; ", shape, " is needed");
}

void require_write(const Attention& attention, const Tensor& focus, const Tensor& patch) {
  require("write", focus, {focus.rows(), focus_size}, "focus");
  require("write", patch, {focus.rows(), attention.patch()}, "patch");
}

}  // namespace

Tensor padded(const Attention& attention, const Tensor& images) {
  const size_t side = attention.side;
  Tensor result = Tensor::zeros({images.rows(), attention.image_size()});
  for (size_t line = 0; line < images.rows() * side; ++line)
    std::copy_n(images.data() + line * side, side, result.data() + line * attention.width());
  return result;
}

Tensor unpadded(const Attention& attention, const Tensor& images) {
  const size_t side = attention.side;
  Tensor result({images.rows(), side * side});
  for (size_t line = 0; line < images.rows() * side; ++line)
    std::copy_n(images.data() + line * attention.width(), side, result.data() + line * side);
  return result;
}

Tensor write(const Attention& attention, const Tensor& focus, const Tensor& patch) {
  const size_t rows = focus.rows();
  require_write(attention, focus, patch);
  if (Tape::recording(std::array{focus, patch}) != nullptr)
    fail("draw write: has no gradient; call composed::write on a tape");
  Tensor written = Tensor::zeros({rows, attention.image_size()}), filters({attention.filters_size()}),
         scratch({attention.scratch_size()});
  for (size_t r = 0; r < rows; ++r) {
    const WriteCase one{.focus = focus.data() + r * focus_size,
                        .filters = filters.data(),
                        .patch = patch.data() + r * attention.patch()};
    make_filters(attention, one.focus, filters.data());
    write_forward(attention, one, written.data() + r * written.columns(), scratch.data());
  }
  return unpadded(attention, written);
}

namespace composed {

namespace {

/// The numbers first, first + 1, ... as a row or a column.
Tensor count_from(real first, const Shape& shape) {
  Tensor numbers(shape);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = first + static_cast<real>(i);
  return numbers;
}

Tensor element(const Tensor& focus, size_t k) { return slice(focus, 1, k, k + 1).reshape({}); }

/// F along one axis [N x A] for the focus [1 x 5].
Tensor filters(const Attention& attention, const Tensor& focus, size_t axis) {
  const size_t side = attention.side, points = attention.points;
  const auto last = static_cast<real>(side), count = static_cast<real>(points);
  const Tensor centre = (element(focus, axis) + 1) * ((last + 1) / 2);
  const Tensor stride = exp(element(focus, 3)) * ((last - 1) / std::max<real>(count - 1, 1));
  const Tensor means = count_from(real(0.5) - count / 2, {points, 1}) * stride + centre;
  const Tensor pixels = matmul(Tensor::ones({points, 1}), count_from(1, {1, side}));
  return softmax(-square(pixels - means) / (2 * exp(element(focus, 2))));
}

}  // namespace

Tensor read(const Attention& attention, const Tensor& focus, const Tensor& image, const Tensor& canvas) {
  const Shape all{image.rows(), attention.side * attention.side};
  require("read", focus, {image.rows(), focus_size}, "focus");
  require("read", image, all, "image");
  require("read", canvas, all, "canvas");
  const Tensor error = image - sigmoid(canvas);
  std::vector<Tensor> patches;
  for (size_t r = 0; r < image.rows(); ++r) {
    const Tensor own = focus.slice(r, r + 1);
    const Tensor x = filters(attention, own, 0), y = filters(attention, own, 1), gamma = exp(element(own, 4));
    const auto seen = [&](const Tensor& images) {
      const Tensor one = images.slice(r, r + 1).reshape({attention.side, attention.side});
      return (matmul(matmul(y, one), x, {.b = Transpose::yes}) * gamma).reshape({1, attention.patch()});
    };
    patches.push_back(concatenate({seen(image), seen(error)}, 1));
  }
  return concatenate(patches, 0);
}

Tensor write(const Attention& attention, const Tensor& focus, const Tensor& patch) {
  require_write(attention, focus, patch);
  std::vector<Tensor> added;
  for (size_t r = 0; r < focus.rows(); ++r) {
    const Tensor own = focus.slice(r, r + 1);
    const Tensor x = filters(attention, own, 0), y = filters(attention, own, 1), gamma = exp(element(own, 4));
    const Tensor square = patch.slice(r, r + 1).reshape({attention.points, attention.points});
    added.push_back((matmul(matmul(y, square, {.a = Transpose::yes}), x) / gamma)
                        .reshape({1, attention.side * attention.side}));
  }
  return concatenate(added, 0);
}

}  // namespace composed

}  // namespace lamina::draw
