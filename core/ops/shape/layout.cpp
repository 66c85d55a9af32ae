#include "core/ops/shape/layout.h"

#include "core/ops/map.h"

namespace lamina {

namespace {

/// Transposes `count` matrices [rows x columns]. y_kji = x_kij;  dx_kij = dy_kji
Tensor transpose_each(const char* op, const Tensor& x, const Shape& shape, size_t rows, size_t columns) {
  const size_t area = rows * columns;
  const auto at = [=](size_t i) { return i / area * area + i % rows * columns + i % area / rows; };
  const auto back = [=](size_t i) { return i / area * area + i % columns * rows + i % area / columns; };
  const Tensor y = generate(shape, [=, from = x.data()](size_t i) { return from[at(i)]; });
  return record(op, y, {x},
                [=] { contribute(x, [=, dy = y.gradient_data()](size_t i) { return dy[back(i)]; }); });
}

void require_images(const char* op, const Tensor& x) {
  if (x.shape().rank() != 4) fail(op, ": four dimensions are needed, this is ", x.shape());
}

}  // namespace

std::string layout_hint(const Shape& images, size_t channels) {
  if (images.rank() != 4 || images[3] == channels || images[1] != channels) return "";
  return text("; these look like [N x C x H x W], which channels_last() turns into [N x H x W x C]");
}

Tensor channels_last(const Tensor& x) {
  require_images("channels_last", x);
  const Shape& s = x.shape();
  return transpose_each("channels_last", x, {s[0], s[2], s[3], s[1]}, s[1], s[2] * s[3]);
}

Tensor channels_first(const Tensor& x) {
  require_images("channels_first", x);
  const Shape& s = x.shape();
  return transpose_each("channels_first", x, {s[0], s[3], s[1], s[2]}, s[1] * s[2], s[3]);
}

}  // namespace lamina
