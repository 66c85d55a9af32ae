#include "core/memory/flat_storage.h"

#include <algorithm>

namespace lamina::detail {

size_t FlatStorage::take(Storage& tensor) {
  const size_t begin = buffer.add(tensor.size * sizeof(real)) / sizeof(real);
  values = reinterpret_cast<real*>(buffer.part(0));
  if (has_gradients) gradient = reinterpret_cast<real*>(buffer.part(1));
  std::copy_n(tensor.values, tensor.size, values + begin);
  if (has_gradients && tensor.gradient_written) std::copy_n(tensor.gradient, tensor.size, gradient + begin);
  tensor.move_to(values + begin, has_gradients ? gradient + begin : nullptr, this);
  return begin;
}

}  // namespace lamina::detail
