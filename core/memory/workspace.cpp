#include "core/memory/workspace.h"

#include <cstdlib>
#include <new>

namespace lamina::detail {

Workspace::~Workspace() { std::free(memory_); }

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
