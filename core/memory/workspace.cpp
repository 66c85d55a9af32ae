#include "core/memory/workspace.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace lamina::detail {

void Workspace::release() {
  std::free(std::exchange(memory_, nullptr));
  capacity_ = 0;
}

void Workspace::grow(std::size_t count) {
  std::free(memory_);
  capacity_ = (count + 1023) / 1024 * 1024;
  memory_ = static_cast<real*>(std::aligned_alloc(64, capacity_ * sizeof(real)));
  if (memory_ == nullptr) {
    capacity_ = 0;
    throw std::bad_alloc();
  }
}

}  // namespace lamina::detail
