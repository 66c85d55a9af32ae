#pragma once
// Scratch memory for code inside shares. What an op needs once for all its shares is a Tensor.

#include <cstddef>

#include "core/real.h"
#include "core/threads/parallel.h"

namespace lamina {

namespace detail {

/// Grows to the largest request and stays, so that a training loop allocates nothing.
class Workspace {
 public:
  ~Workspace();
  real* reserve(std::size_t count) {
    if (count > capacity_) grow(count);
    return memory_;
  }

 private:
  void grow(std::size_t count);
  real* memory_ = nullptr;
  std::size_t capacity_ = 0;
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
    static detail::Workspace of_share[most_shares];
    return of_share[slot - 1].reserve(count);
  }
  static thread_local detail::Workspace of_thread;  // here: a thread's first visit allocates a little
  return of_thread.reserve(count);
}

}  // namespace lamina
