#pragma once
// Scratch memory for code inside shares. What an op needs once for all its shares is a Tensor.

#include <cstddef>

#include "core/real.h"
#include "core/threads/parallel.h"

namespace lamina {

namespace detail {

/// Grows to the largest request and stays, so that a training loop allocates nothing. Without a destructor: the destructor
/// of a static object may compute after all others have run.
class Workspace {
 public:
  real* reserve(std::size_t count) {
    if (count > capacity_) grow(count);
    return memory_;
  }
  void release();

 private:
  void grow(std::size_t count);
  real* memory_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Releases a workspace when its thread ends. What computes even later finds it empty, and it grows again.
struct ReleasedWithThread {
  Workspace& workspace;
  ~ReleasedWithThread() { workspace.release(); }
};

}  // namespace detail

/// Room for `count` numbers, aligned to 64 bytes, for a purpose: a type that is declared for it. It belongs to the
/// caller's share, outside of shares to its thread, and is valid until the next call there for the same purpose.
///
///   struct Frame;
///   real* const frame = scratch<Frame>(count);
template <class Purpose>
real* scratch(std::size_t count) {
  constexpr std::size_t most_shares = 256;
  const std::size_t slot = share_slot();
  if (slot != 0 && slot <= most_shares) {
    static constinit detail::Workspace of_share[most_shares];
    return of_share[slot - 1].reserve(count);
  }
  static constinit thread_local detail::Workspace of_thread;
  // Here a thread's first visit allocates a little.
  static thread_local const detail::ReleasedWithThread at_end{of_thread};
  return of_thread.reserve(count);
}

}  // namespace lamina
