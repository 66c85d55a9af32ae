#pragma once
// What a model learns: named tensors that live in one flat value buffer and one flat gradient buffer.
//
// Layers add their parameters while they are constructed. The values of a tensor move into the flat buffer
// when it is added, and never again: handles, detached tensors and pointers that are taken from then on
// always refer to the parameter, whenever an optimizer is made. Each parameter starts at a multiple of 64
// bytes; the padding holds zeros, so an optimizer may run over everything in one pass. Initial values depend
// only on the seed and the parameter's name: two models with the same seed start from the same numbers
// wherever their parameters agree, whatever else they contain. A copy of a layer is the same parameters: a second model is
// made on Parameters of its own, and gets the values by a copy of values(), and of what state() has, such as averages.
//
// Parts of the model can be frozen: they get no gradient and no optimizer changes them. Names of layers are
// joined by dots, so where a name is expected, "encoder" means the parameter "encoder" and all "encoder....",
// but not "encoder2.weight"; "" means all.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/math/random.h"
#include "core/tensor.h"
#include "core/threads/parallel.h"

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

  /// Layers, optimizers and averages of weights follow to the new place. What was moved from may be assigned
  /// to or destroyed; any other use throws Error.
  Parameters(Parameters&& other) noexcept;
  Parameters& operator=(Parameters&& other) noexcept;
  ~Parameters() = default;

  /// Takes a tensor in as a learned parameter and returns its handle. Earlier pointers to its values become
  /// invalid. Throws Error for a name used before, a tensor without numbers, one that these or other parameters learn, the
  /// result of an op that a tape has recorded, and for one that cannot move: a view of a part of another tensor, and one
  /// that was detached, whose values are another tensor's too.
  Tensor add(const std::string& name, Tensor initial);

  /// Takes a tensor in that is state but not learned (running averages): saved, not optimized.
  Tensor add_state(const std::string& name, Tensor initial);

  /// The generator for the initial value of the parameter of this name.
  Random random(const std::string& name) const;

  const std::vector<Entry>& learned() const { return require_here().learned_; }
  const std::vector<Entry>& state() const { return require_here().state_; }

  /// Number of learned values, without padding.
  size_t count() const;

  /// All learned values one after another (with padding).
  std::span<real> values();

  /// All gradients, in the layout of values(); zero where nothing was contributed since clear_gradients(). What is
  /// written there counts as a gradient until clear_gradients(); ask for the span again after it.
  std::span<real> gradients();

  /// The same for callers that only read or scale them, and so leave zeros zero: the next step of an
  /// Embedding then clears only the rows that it has used. Read only the ranges of trained(): the values
  /// outside of them, of frozen parameters, are unspecified.
  std::span<real> gradients_to_scale();

  /// The ranges of the flat buffers that hold the parameters that are not frozen, in order and not adjacent:
  /// one range when none is frozen.
  const std::vector<Range>& trained() const { return require_here().trained_; }

  /// From here on the parameters of this name (see above) get no gradient, so that no work is done for one,
  /// and optimizers leave them and their moments unchanged: no decay, no momentum. They are saved as before.
  /// Their gradients so far are dropped. State is not frozen: running averages move as the layer's Mode says.
  /// Throws Error when nothing has the name, and while a tape of this thread holds ops, as between a forward pass and its
  /// backward pass.
  void freeze(const std::string& name);

  /// Undoes it, under the same conditions.
  void thaw(const std::string& name);

  /// Whether parameter number i of learned() is frozen.
  bool frozen(size_t i) const { return !learned()[i].value.needs_gradient(); }

  /// Indices in learned() of the parameters of this name (see above). Throws Error when there is none.
  std::vector<size_t> named(const std::string& name) const;

  /// Whether a gradient has arrived since clear_gradients(), or may have been written through gradients().
  bool any_gradient() const;

  /// From here on every gradient is zero. Costs nothing: the next contribution overwrites. An optimizer's step() does it for
  /// its own parameters. Call it where the loss of others has gone through these, as a generator's through its discriminator,
  /// or one whose gradient only the inputs were to get: else the next step adds what it left. Or freeze() them before it.
  void clear_gradients();

  /// Where parameter number i of learned() begins in the flat buffers.
  size_t offset(size_t i) const { return require_here().offsets_[i]; }

  /// For objects that refer to these parameters: points to them, also after they have been moved, and expires
  /// with them.
  std::weak_ptr<Parameters* const> lifetime() const { return require_here().lifetime_; }

  /// Until unlock(), the values must not be trained: step() of an optimizer throws Error with this reason.
  void lock(const std::string& reason) {
    require_here();
    lock_ = reason;
  }
  void unlock() { lock({}); }
  const std::string& locked() const { return require_here().lock_; }

 private:
  void require_new(const std::string& name) const;
  void train_from(size_t i);
  void set_frozen(const char* action, const std::string& name, bool frozen);
  void find_trained();
  const Parameters& require_here() const {
    if (lifetime_ == nullptr) [[unlikely]]
      fail_moved();
    return *this;
  }
  [[noreturn]] static void fail_moved();

  std::uint64_t seed_;
  std::vector<Entry> learned_, state_;
  std::vector<size_t> offsets_;  ///< of every learned parameter, in the flat buffers
  std::vector<Range> trained_;
  detail::FlatStorage* flat_;  ///< the flat buffers, which the parameters borrow from
  detail::StorageHandle keeps_flat_;
  std::string lock_;
  std::shared_ptr<Parameters*> lifetime_ = std::make_shared<Parameters*>(this);  ///< nullptr: moved from
  std::unordered_set<std::string> names_;
};

}  // namespace LAMINA_SCALAR

/// Whether `name` is `part`, or begins with it and a dot; "" is a part of every name.
bool is_named(const std::string& name, const std::string& part);

}  // namespace lamina
