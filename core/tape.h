#pragma once
// Tape: reverse-mode differentiation in three sentences.
//
// While a Tape exists, every op appends a node: its name, its output and a closure that turns dL/d(output)
// into contributions to dL/d(inputs). Nodes are stored in the order of execution, so every node comes after
// those it depends on. `backward` puts dL/dL = 1 beside the loss and runs the closures from last to first.
//
//   Tape tape;                                  // records from here ...
//   Tensor loss = mean(square(w * x - y));
//   tape.backward(loss);                        // ... to here; w.gradient() is filled now
//
// Without a Tape the same functions just compute. Tapes nest: the innermost records. To it, the results of an
// enclosing tape are leaves: its backward() leaves its gradient on them, and that of the enclosing tape
// propagates it together with its own, so that the gradients of both losses add up; detach() keeps them
// apart. So the inner one runs first: backward() of the other throws Error while a later tape holds ops on its results,
// unless it is kept for another pass.
// A Tape sees the ops of the thread that made it alone: inside a share (core/threads/parallel.h) one that was opened
// outside throws Error, and one that was opened there records. That thread must also destroy it, before or after its
// other tapes.
//
// backward() empties the tape, unless it is asked to keep it: tape.backward(loss, {.retain = true}) leaves everything
// in place for another pass, of this or another loss, whose gradients add up in the leaves. What the tape holds may
// not be written in between, by an optimizer for example.
//
// A result whose tape has run backward or is gone is cut off from the leaves: an op that a later tape would record
// refuses it, and takes its detach() as a constant. What is written into a tensor that a tape holds makes its
// backward() fail: the gradient would be wrong. Only the last thread that has recorded a tensor finds such writes, and
// only its own, before another thread asks for the values through a handle that is not const. So threads that train
// with a shared tensor must not write into it before all have run backward. Nor may two threads run backward at the
// same time where both lead to one leaf: its gradient is added up without a lock.

#include <cstddef>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "core/memory/cached_vector.h"
#include "core/tensor.h"

namespace lamina {

/// What code that inspects a tape needs to know about an op; its name is for people.
enum class OpKind : std::uint8_t {
  other,
  product,  ///< the outputs are summed inputs W h + b, and one of the inputs is W
  relu,     ///< ends in max(0, x), possibly pooled
  norm      ///< normalizes its first input, whose shape the result has
};

/// How an op introduces itself: record("exp", ...) or record({"relu", OpKind::relu}, ...).
struct Op {
  Op(const char* op_name,
     OpKind op_kind = OpKind::other)  // NOLINT(google-explicit-constructor): most are a name
      : name(op_name), kind(op_kind) {}
  const char* name;  ///< kept as it is: a literal, or what outlives the tape
  OpKind kind;
};

struct BackwardOptions {
  /// Keep the tape for another backward pass. Gradients of leaves add up over the passes; those of results
  /// are cleared after each, so that none counts twice. It costs the memory that ops would otherwise have
  /// reused.
  bool retain = false;
};

class Tape {
 public:
  /// One recorded op. The closure, then the ids of the inputs directly follow it in the tape's memory.
  struct Node {
    static constexpr size_t max_outputs = 3;
    const char* op = "";
    OpKind kind = OpKind::other;
    Node* previous = nullptr;
    Tensor outputs[max_outputs];
    std::span<const std::uint64_t> inputs;  ///< ids of the buffers, 0: none
    void (*run)(Node&) = nullptr;
    void (*destroy)(Node&) = nullptr;
  };

  Tape();
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Computes the gradient of `loss` (one element) with respect to everything recorded that leads to it, adds
  /// it to the leaves that asked with require_gradient(), and empties the tape: activations are released as
  /// the pass goes. Throws Error when the loss has more than one element, and when it was not computed from a
  /// leaf on this tape since it was last empty, with the reason and the remedy; the tape is then as it was. So it is where
  /// a tensor that it holds was written: it refuses every further pass too, until it is cleared. Whatever an op throws
  /// passes through, and leaves the tape empty, unless it is kept, and the gradients of leaves partial: clear_gradients()
  /// before the next pass.
  void backward(const Tensor& loss, const BackwardOptions& options = {});

  /// The same for any output: contracts its Jacobian with `seed`, of the output's shape.
  void backward(const Tensor& output, const Tensor& seed, const BackwardOptions& options = {});

  /// The same for several outputs at once. Those that depend on no leaf are passed over.
  struct Seed {
    Tensor output, gradient;
  };
  void backward(std::initializer_list<Seed> seeds, const BackwardOptions& options = {});

  /// Whether the backward pass that runs on this thread keeps its tape: ops must then not change what they
  /// have kept.
  static bool retaining();

  /// For an op whose backward pass consumes what it has kept: throws Error in a pass that keeps its tape.
  static void require_last_pass(const char* op);

  /// Whether any tape of this thread holds a node.
  static bool any_recorded();

  /// Whether a tensor was handed out for writing while the tape holds it: backward() will look at its values again.
  bool watches(const Tensor& x) const;

  /// Forgets everything that was recorded.
  void clear();

  /// The tape that records on this thread, or nullptr.
  static Tape* current();

  /// The tape that records an op with these inputs: the current one if any of them needs a gradient, else nullptr.
  static Tape* recording(std::span<const Tensor> inputs) {
    Tape* const tape = current();
    bool needed = false;
    if (tape != nullptr)
      for (const Tensor& input : inputs) needed = needed || input.needs_gradient();
    return needed ? tape : nullptr;
  }

  /// The nodes, last first: follow `previous`. For graphs and for finding where a NaN began.
  const Node* last() const { return last_; }
  size_t size() const { return count_; }

  /// Stops recording on this thread while it lives: evaluation inside a training step.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    friend class Tape;
    Tape* paused_;
    Pause* outer_;  ///< the next older one of this thread
  };

  /// Appends a node; ops call it through `record` below.
  template <class Backward>
  void append(const Op& op, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
              Backward backward) {
    struct Closure : Node {
      explicit Closure(Backward f) : function(std::move(f)) {}
      Backward function;
    };
    static_assert(alignof(Closure) <= alignof(std::max_align_t));
    require_recordable(op.name, outputs, inputs);
    void* const place = reserve(sizeof(Closure) + inputs.size() * sizeof(std::uint64_t));
    auto* const node = new (place) Closure(std::move(backward));
    node->run = [](Node& self) { static_cast<Closure&>(self).function(); };
    node->destroy = [](Node& self) { static_cast<Closure&>(self).~Closure(); };
    link(*node, reinterpret_cast<std::uint64_t*>(node + 1), op, outputs, inputs);
  }

 private:
  struct Chunk;
  void* reserve(size_t bytes);
  /// Of the tapes of this thread, recording or not.
  static Tape* opened_last();
  void require_recordable(const char* op, std::span<const Tensor> outputs,
                          std::span<const Tensor> inputs) const;
  void link(Node& node, std::uint64_t* ids, const Op& op, std::span<const Tensor> outputs,
            std::span<const Tensor> inputs);
  void enter(detail::Storage& storage);
  bool entered(const detail::Storage& holder, std::uint32_t number) const;
  void watch(detail::Storage* storage, size_t begin, const Shape& shape);
  void require_unwritten() const;
  void require_last_reader() const;
  static bool holds(std::uint32_t number, Tape* innermost);
  friend void detail::before_writing(detail::Storage* storage, size_t offset, const Shape& shape);
  friend void detail::require_unread(const detail::Storage& storage, const Shape& shape);
  void pop(detail::History past);
  void walk();
  void walk_and_keep();
  void require_origin(const Tensor& output) const;
  [[noreturn]] void fail_without_origin(const Tensor& output) const;

  /// A tensor, or a part of one, that was handed out for writing while this recording holds it, and what it held then.
  struct Watched {
    detail::StorageHandle storage;
    size_t begin;  ///< its first number in the storage
    Shape shape;
    size_t nodes;  ///< recorded before
    std::uint64_t digest;
  };

  Tape* enclosing_;  ///< recorded before
  Tape* outer_;      ///< the next older one of this thread, recording or not
  std::uint32_t recording_;
  bool in_share_;  ///< opened inside one
  CachedVector<Watched> watched_;
  /// Of each storage, first number and shape, by their hash, the last one in there: a loop may ask for one row after another.
  std::unordered_map<std::size_t, std::size_t> watched_last_;
  CachedVector<std::uint64_t> shared_;  ///< ids of what an older tape held already when this one entered it
  std::uint64_t opened_;                ///< the id that the next tensor had when the tape was opened
  Node* last_ = nullptr;
  size_t count_ = 0;
  Chunk* chunk_ = nullptr;
};

/// Called by every differentiable op when its outputs are computed. If a tape is recording and an input needs
/// a gradient, the outputs need one too and `backward` is kept (Error for an input that was computed on a
/// tape that has run backward or is gone); it must read the outputs' gradient_data() and contribute to the
/// inputs' gradients. It is not called when no gradient reached any output; an op with several outputs
/// handles nullptr for those that were not reached.
template <class Backward>
void record(const Op& op, std::initializer_list<Tensor> outputs, std::initializer_list<Tensor> inputs,
            Backward backward) {
  if (Tape* const tape = Tape::recording({inputs.begin(), inputs.size()}))
    tape->append(op, {outputs.begin(), outputs.size()}, {inputs.begin(), inputs.size()}, std::move(backward));
}

/// The usual case of one output, which it returns.
template <class Backward>
Tensor record(const Op& op, const Tensor& output, std::initializer_list<Tensor> inputs, Backward backward) {
  record(op, {output}, inputs, std::move(backward));
  return output;
}

/// The name of the first op on the tape whose output holds a NaN or an infinity, or nullptr. Call it before
/// backward() empties the tape.
const char* first_non_finite(const Tape& tape);

}  // namespace lamina
