#include "core/ops/shape/layout.h"

#include "core/error.h"
#include "core/ops/shape/structure.h"

namespace lamina {

namespace {

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
  return permute(x, {0, 2, 3, 1});
}

Tensor channels_first(const Tensor& x) {
  require_images("channels_first", x);
  return permute(x, {0, 3, 1, 2});
}

}  // namespace lamina
