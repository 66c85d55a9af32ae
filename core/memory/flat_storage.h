#pragma once
// Where the parameters of a model live: a storage with two buffers, values and gradients, from which those of the
// parameters borrow, and which lives as long as any of them.

#include "core/memory/growing_buffer.h"
#include "core/tensor.h"

namespace lamina::detail {

struct FlatStorage : Storage {
  /// One part: without gradients. `room` as in GrowingBuffer.
  explicit FlatStorage(size_t parts = 2, size_t room = 0) : buffer(parts, room), has_gradients(parts > 1) {
    flat = true;
    owns_values = owns_gradient = false;
  }

  /// Moves a tensor's values and gradient in; returns where they begin in both buffers, in numbers.
  size_t take(Storage& tensor);

  GrowingBuffer buffer;
  bool has_gradients;
};

}  // namespace lamina::detail
