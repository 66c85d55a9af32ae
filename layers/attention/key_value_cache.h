#pragma once
// What a causal attention layer keeps while text is written token by token: the keys and values of all positions
// so far. The next token's query meets them, and nothing is computed twice:
//
//   KeyValueCache cache;
//   Tensor y = attention.next(prompt, cache);   // [B x length x width]
//   y = attention.next(token, cache);           // [B x 1 x width], at the position after those in the cache

#include <cstdint>
#include <utility>

#include "core/tensor.h"

namespace lamina {

struct KeyValueCacheOptions {
  size_t capacity =
      0;  ///< positions at most, whose memory is taken once; 0: no limit, it doubles when it is full
};

/// Belongs to one layer and one batch of texts. It can be moved, which leaves it empty, but not copied: two
/// copies would share memory.
class KeyValueCache {
 public:
  explicit KeyValueCache(const KeyValueCacheOptions& options = {}) : capacity_(options.capacity) {}
  KeyValueCache(const KeyValueCache&) = delete;
  KeyValueCache& operator=(const KeyValueCache&) = delete;
  KeyValueCache(KeyValueCache&& other) noexcept : capacity_(other.capacity_) { swap(other); }
  KeyValueCache& operator=(KeyValueCache&& other) noexcept {
    KeyValueCache taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~KeyValueCache() = default;

  size_t length() const { return length_; }  ///< positions so far, the same for all cases

  /// Forgets all positions, for another text; the memory stays.
  void reset() { length_ = 0; }

  // For layers.

  /// Enters t more positions: qkv [B x t x 3 heads d], queries, keys and values of all heads side by side. Throws
  /// Error beyond the capacity, and for another batch or layer than that of the positions so far; `layer` is a number
  /// that no other one has, such as the id of a weight.
  void append(const Tensor& qkv, size_t heads, std::uint64_t layer = 0);

  /// [1 x length() x heads x d] of one case: views, valid until the next append().
  Tensor keys(size_t index) const { return of_case(keys_, index); }
  Tensor values(size_t index) const { return of_case(values_, index); }

 private:
  void swap(KeyValueCache& other) noexcept;
  void make_room(size_t length, size_t cases, size_t heads, size_t d);
  Tensor of_case(const Tensor& all, size_t index) const;

  size_t capacity_, length_ = 0;
  std::uint64_t layer_ = 0;
  Tensor keys_, values_;  ///< [B x room x heads x d]
};

}  // namespace lamina
