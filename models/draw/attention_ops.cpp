// Reading and writing as ops: the functions of attention.cpp for a whole batch, and the same from primitive
// ops.

#include <algorithm>
#include <vector>

#include "core/ops.h"
#include "core/ops/map.h"
#include "models/draw/attention.h"

namespace lamina::draw {

namespace {

void require(const char* op, const Tensor& tensor, const Shape& shape, const char* name) {
  if (tensor.shape() != shape)
    fail("draw ", op, ": the ", name, " is ", tensor.shape(), "; ", shape, " is needed");
}

/// Images [B x A^2] with padded rows [B x image_size].
Tensor padded(const Attention& attention, const Tensor& images) {
  const size_t side = attention.side;
  Tensor result = Tensor::zeros({images.rows(), attention.image_size()});
  for (size_t line = 0; line < images.rows() * side; ++line)
    std::copy_n(images.data() + line * side, side, result.data() + line * attention.width());
  return result;
}

/// The value of element i of images [B x A^2] in their padded form.
auto unpadded(const Attention& attention, const Tensor& images) {
  return [side = attention.side, width = attention.width(), data = images.data()](size_t i) {
    return data[i / side * width + i % side];
  };
}

real* row(Tensor& of, size_t r) { return of.data() + r * of.columns(); }
const real* row(const Tensor& of, size_t r) { return of.data() + r * of.columns(); }

/// What reading keeps for the backward pass.
struct Reading {
  Attention attention;
  Tensor focus, image, error, filters, patch, scratch;

  ReadCase at(size_t r) {
    return {.focus = row(focus, r),
            .filters = row(filters, r),
            .image = row(image, r),
            .error = row(error, r),
            .patch = row(patch, r)};
  }
};

/// What writing keeps for the backward pass.
struct Writing {
  Attention attention;
  Tensor focus, patch, filters, scratch;

  WriteCase at(size_t r) {
    return {.focus = row(focus, r), .filters = row(filters, r), .patch = row(patch, r)};
  }
};

}  // namespace

Tensor read(const Attention& attention, const Tensor& focus, const Tensor& image, const Tensor& canvas) {
  const size_t rows = image.rows();
  const Shape images{rows, attention.side * attention.side};
  require("read", focus, {rows, focus_size}, "focus");
  require("read", image, images, "image");
  require("read", canvas, images, "canvas");
  const Tensor padded_canvas = padded(attention, canvas);
  Reading reading{.attention = attention,
                  .focus = focus,
                  .image = padded(attention, image),
                  .error = Tensor({rows, attention.image_size()}),
                  .filters = Tensor({rows, attention.filters_size()}),
                  .patch = Tensor({rows, 2 * attention.patch()}),
                  .scratch = Tensor({attention.scratch_size()})};
  for (size_t r = 0; r < rows; ++r) {
    make_filters(attention, row(focus, r), row(reading.filters, r));
    read_forward(attention, reading.at(r), row(padded_canvas, r), reading.scratch.data());
  }
  const Tensor patch = reading.patch;
  return record("read", patch, {focus, canvas}, [=]() mutable {
    Tensor dfocus(focus.shape()), dcanvas = Tensor::zeros({rows, attention.image_size()});
    for (size_t r = 0; r < rows; ++r)
      read_backward(attention, reading.at(r), patch.gradient_data() + r * patch.columns(), row(dfocus, r),
                    row(dcanvas, r), reading.scratch.data());
    contribute(focus, [d = dfocus.data()](size_t i) { return d[i]; });
    contribute(canvas, unpadded(attention, dcanvas));
  });
}

Tensor write(const Attention& attention, const Tensor& focus, const Tensor& patch) {
  const size_t rows = focus.rows();
  require("write", focus, {rows, focus_size}, "focus");
  require("write", patch, {rows, attention.patch()}, "patch");
  Writing writing{.attention = attention,
                  .focus = focus,
                  .patch = patch,
                  .filters = Tensor({rows, attention.filters_size()}),
                  .scratch = Tensor({attention.scratch_size()})};
  Tensor written = Tensor::zeros({rows, attention.image_size()});
  for (size_t r = 0; r < rows; ++r) {
    make_filters(attention, row(focus, r), row(writing.filters, r));
    write_forward(attention, writing.at(r), row(written, r), writing.scratch.data());
  }
  const Tensor added = generate({rows, attention.side * attention.side}, unpadded(attention, written));
  return record("write", added, {focus, patch}, [=]() mutable {
    Tensor dfocus(focus.shape()), dpatch(patch.shape());
    const Tensor dadded = padded(attention, added.gradient());
    for (size_t r = 0; r < rows; ++r)
      write_backward(attention, writing.at(r), row(dadded, r), row(dfocus, r), row(dpatch, r),
                     writing.scratch.data());
    contribute(focus, [d = dfocus.data()](size_t i) { return d[i]; });
    contribute(patch, [d = dpatch.data()](size_t i) { return d[i]; });
  });
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
