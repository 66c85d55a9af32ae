#pragma once
// What a model learns: named tensors that live in one flat value buffer and one flat gradient buffer.
//
// Layers add their parameters while they are constructed. The values of a tensor move into the flat buffer when
// it is added, and never again: handles, detached tensors and pointers that are taken from then on always mean
// the parameter, whenever an optimizer is made. Each parameter starts at a multiple of 64 bytes; the padding holds zeros, so an
// optimizer may run over everything in one pass. Initial values depend only on the seed and the parameter's
// name: two models with the same seed start from the same numbers wherever their parameters agree, whatever
// else they contain.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/tensor.h"

namespace lamina {

namespace detail {
struct FlatStorage;
}

inline namespace LAMINA_SCALAR {

class Parameters {
 public:
  struct Entry {
    std::string name;
    Tensor value;
  };

  explicit Parameters(std::uint64_t seed);
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Takes a tensor in as a learned parameter and returns its handle. Pointers to its values from before are
  /// void. Throws Error for a name used before, a tensor that is already in, and for one that cannot move: a
  /// view of a part of another tensor, and one that was detached, whose values are another tensor's too.
  Tensor add(const std::string& name, Tensor initial);

  /// Takes a tensor in that is state but not learned (running averages): saved, not optimized.
  Tensor add_state(const std::string& name, Tensor initial);

  /// The generator for the initial value of the parameter of this name.
  Random random(const std::string& name) const;

  const std::vector<Entry>& learned() const { return learned_; }
  const std::vector<Entry>& state() const { return state_; }

  /// Number of learned values, without padding.
  size_t count() const;

  /// All learned values one behind the other (with padding).
  std::span<real> values();

  /// All gradients, in the layout of values(); zero where nothing was contributed since clear_gradients(). What is
  /// written there counts as a gradient.
  std::span<real> gradients();

  /// The same for who reads them or scales them, and so leaves zeros zero: the next step of an Embedding then
  /// clears no more than the rows that it has used.
  std::span<real> gradients_to_scale();

  /// Whether a gradient has arrived since clear_gradients(), or may have been written through gradients().
  bool any_gradient() const;

  /// From here on every gradient is zero. Costs nothing: the next contribution overwrites.
  void clear_gradients();

  /// Where parameter number i of learned() begins in the flat buffers.
  size_t offset(size_t i) const { return offsets_[i]; }

  /// Expires with these parameters: for who refers to them.
  std::weak_ptr<const void> lifetime() const { return lifetime_; }

 private:
  void require_new(const std::string& name) const;

  std::uint64_t seed_;
  std::vector<Entry> learned_, state_;
  std::vector<size_t> offsets_;  ///< of every learned parameter, in the flat buffers
  detail::FlatStorage* flat_;    ///< the flat buffers, which the parameters borrow from
  detail::StorageHandle keeps_flat_;
  std::shared_ptr<const void> lifetime_ = std::make_shared<char>();
};

}  // namespace LAMINA_SCALAR

}  // namespace lamina
