#pragma once
// Memory that grows and never moves: a range of addresses is reserved once and filled with memory as needed.
//
// Several parts grow together, and a block has the same offset in each. The reserved range costs no memory.
// It is as large as the machine's memory, or half of what `ulimit -v` leaves (optimizers need as much again
// beside the parameters), unless its maker knows how much is needed.

#include <cstddef>

namespace lamina {

class GrowingBuffer {
 public:
  /// `room`: the bytes that a part can grow to; 0: as many as the system grants.
  explicit GrowingBuffer(size_t parts, size_t room = 0) : parts_(parts), room_(room) {}
  ~GrowingBuffer();
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;

  /// Makes room for a block in each part, filled with zeros, and returns its offset in the part, a multiple
  /// of 64 bytes. Throws std::bad_alloc when there is no room.
  size_t add(size_t bytes);

  /// From here on all blocks may be read and written in one pass, with the zeros between them. (In tests that
  /// run with guarded memory, the gaps between blocks are inaccessible before.)
  void join();

  /// Where a part begins; nullptr before the first block.
  std::byte* part(size_t i) const { return begin_ == nullptr ? nullptr : begin_ + i * room_; }

  /// Where the last block ends, up to the next multiple of 64 bytes.
  size_t size() const { return size_; }

 private:
  void reserve();

  size_t parts_, room_;  // bytes of each part
  void* map_ = nullptr;
  size_t mapped_ = 0;
  std::byte* begin_ = nullptr;
  size_t usable_ = 0, size_ = 0;  // of each part
};

}  // namespace lamina
