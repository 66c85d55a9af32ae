#pragma once
// Listening to a tape: which ops are recorded, by which layer, and when their backward pass runs.
//
//   struct Counter final : TapeListener {
//     void recorded(const Tape::Node& node, std::span<const Tensor>) override { ++count[node.op]; }
//     std::map<std::string, int> count;
//   } counter;
//   const Listening listening(counter);  // from here on, on this thread
//
// Without a listener, an op pays one call that returns nullptr.

#include <span>
#include <string_view>

#include "core/tape.h"

namespace lamina {

class TapeListener {
 public:
  virtual ~TapeListener() = default;

  /// An op was recorded: its outputs are computed. `inputs` are all its inputs, empty handles included.
  virtual void recorded(const Tape::Node& /*node*/, std::span<const Tensor> /*inputs*/) {}

  /// The backward pass has reached a node, whose outputs' gradients are complete, and is about to run it.
  /// What a node records while it runs (a checkpointed piece that is recomputed) is not reported.
  virtual void backward_begins(const Tape::Node& /*node*/) {}
  virtual void backward_ends(const Tape::Node& /*node*/) {}

  /// The listener of this thread, or nullptr.
  static TapeListener* current();
};

/// While it lives, `listener`, or none, follows this thread's tapes.
class Listening {
 public:
  explicit Listening(TapeListener& listener) : Listening(&listener) {}
  explicit Listening(std::nullptr_t) : Listening(static_cast<TapeListener*>(nullptr)) {}
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  explicit Listening(TapeListener* listener);
  TapeListener* enclosing_;
};

/// Names the layer of all ops recorded while it lives. Ops outside of scopes are named after their
/// parameters, so use one for ops that have none: const Scope scope("loss"). The innermost scope counts.
class Scope {
 public:
  /// `name` must outlive the scope.
  explicit Scope(std::string_view name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// The innermost scope's name on this thread; empty outside of scopes.
  static std::string_view current();

 private:
  std::string_view enclosing_;
};

}  // namespace lamina
