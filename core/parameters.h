#pragma once
// What a model learns: named tensors that live in one flat value buffer and one flat gradient buffer.
//
// Layers add their parameters while they are constructed; the handles they keep stay valid when the values
// move into the flat buffers. Each parameter starts at a multiple of 64 bytes; the padding holds zeros, so an
// optimizer may run over everything in one pass. Initial values depend only on the seed and the parameter's
// name: two models with the same seed start from the same numbers wherever their parameters agree, whatever
// else they contain.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/tensor.h"

namespace lamina {

class Parameters {
 public:
  struct Entry {
    std::string name;
    Tensor value;
  };

  explicit Parameters(std::uint64_t seed) : seed_(seed) {}
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Takes a tensor in as a learned parameter and returns its handle. Throws Error for a name used before, a
  /// tensor that is already in, and a view of a part of another tensor, which cannot move.
  Tensor add(const std::string& name, Tensor initial);

  /// Takes a tensor in that is state but not learned (running averages): saved, not optimized.
  Tensor add_state(const std::string& name, Tensor initial);

  /// The generator for the initial value of the parameter of this name.
  Random random(const std::string& name) const;

  const std::vector<Entry>& learned() const { return learned_; }
  const std::vector<Entry>& state() const { return state_; }

  /// Number of learned values, without padding.
  size_t count() const;

  /// All learned values one behind the other (with padding). The first call moves them there.
  std::span<real> values();

  /// All gradients, in the layout of values(); zero where nothing was contributed since clear_gradients().
  std::span<real> gradients();

  /// From here on every gradient is zero. Costs nothing: the next contribution overwrites.
  void clear_gradients();

  /// Where parameter number i of learned() begins in the flat buffers.
  size_t offset(size_t i) const { return offsets_[i]; }

 private:
  void flatten();
  void require_new(const std::string& name) const;

  std::uint64_t seed_;
  std::vector<Entry> learned_, state_;
  std::vector<size_t> offsets_;  ///< of every learned parameter, in the flat buffers
  size_t padded_size_ = 0;       ///< of each flat buffer
  Tensor flat_;                  ///< [2 x n]: the values, the gradients
  size_t flattened_ = 0;         ///< how many of learned_ live in the flat buffers
};

}  // namespace lamina
