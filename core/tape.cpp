#include "core/tape.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>

#include "core/listener.h"
#include "core/memory/allocator.h"
#include "core/ops/map.h"

namespace lamina {

using detail::History;

namespace {
thread_local Tape* recorder = nullptr;
thread_local Tape* newest = nullptr;
thread_local Tape::Pause* newest_pause = nullptr;
thread_local bool pass_retains = false;

/// A new id for a recording, which is what a tape holds between two moments when it is empty. Never 0 nor ask_lender.
std::uint32_t next_recording() {
  static std::atomic<std::uint32_t> count{0};
  std::uint32_t number = 0;
  while (number == 0 || number == detail::ask_lender) number = ++count;
  return number;
}

}  // namespace

// Nodes are placed one after another in chunks from the caching allocator and removed in reverse order, so allocation is a
// pointer increment.
struct Tape::Chunk {
  static constexpr size_t bytes = 64 * 1024;
  Chunk* previous;
  size_t capacity;
  size_t used;
};

namespace {
constexpr size_t round_up(size_t bytes) {
  return (bytes + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
}
}  // namespace

Tape::Tape()
    : enclosing_(recorder),
      outer_(newest),
      recording_(next_recording()),
      in_share_(inside_share()),
      opened_(detail::next_id()) {
  recorder = newest = this;
}

/// Tapes are destroyed in any order: those that would return to this one go on to the one that it encloses.
Tape::~Tape() {
  clear();
  if (recorder == this) recorder = enclosing_;
  for (Pause* pause = newest_pause; pause != nullptr; pause = pause->outer_)
    if (pause->paused_ == this) pause->paused_ = enclosing_;
  for (Tape** place = &newest; *place != nullptr;) {
    Tape& tape = **place;
    if (tape.enclosing_ == this) tape.enclosing_ = enclosing_;
    if (&tape == this)
      *place = outer_;
    else
      place = &tape.outer_;
  }
}

Tape* Tape::current() { return recorder; }
Tape* Tape::opened_last() { return newest; }

Tape::Pause::Pause() : paused_(std::exchange(recorder, nullptr)), outer_(std::exchange(newest_pause, this)) {}
Tape::Pause::~Pause() {
  recorder = paused_;
  for (Pause** place = &newest_pause; *place != nullptr; place = &(*place)->outer_)
    if (*place == this) {
      *place = outer_;
      break;
    }
}

bool Tape::retaining() { return pass_retains; }

void Tape::require_last_pass(const char* op) {
  if (pass_retains)
    fail(op,
         ": its backward pass uses up what the forward pass has kept, so the tape cannot be retained; add "
         "the losses "
         "up and run backward once");
}

void* Tape::reserve(size_t bytes) {
  constexpr size_t header = round_up(sizeof(Chunk));
  bytes = round_up(bytes);
  if (chunk_ == nullptr || chunk_->used + bytes > chunk_->capacity) {
    const size_t capacity = std::max(Chunk::bytes, header + bytes);
    chunk_ = new (memory::allocate(capacity)) Chunk{chunk_, capacity, header};
  }
  void* const place = reinterpret_cast<char*>(chunk_) + chunk_->used;
  chunk_->used += bytes;
  return place;
}

void Tape::link(Node& node, std::uint64_t* ids, const Op& op, std::span<const Tensor> outputs,
                std::span<const Tensor> inputs) {
  node.op = op.name;
  node.kind = op.kind;
  node.previous = last_;
  node.inputs = {ids, inputs.size()};
  std::ranges::copy(outputs, node.outputs);
  for (const Tensor& output : node.outputs)
    if (output.defined()) {
      output.storage()->needs_gradient = true;
      output.storage()->history = History::recorded;
      enter(*output.storage());
    }
  for (const Tensor& input : inputs) {
    *ids++ = input.defined() ? input.storage()->id : 0;
    if (input.defined()) enter(*input.storage());
  }
  last_ = &node;
  ++count_;
  if (TapeListener* const listener = TapeListener::current()) listener->recorded(node, inputs);
}

void Tape::pop(History past) {
  Node* const node = last_;
  last_ = node->previous;
  --count_;
  for (Tensor& output : node->outputs)
    if (output.defined()) output.storage()->history = past;
  node->destroy(*node);
}

namespace {

/// Apart, so that entering a tensor stays a few instructions.
[[gnu::noinline]] void append_to(CachedVector<std::uint64_t>& ids, std::uint64_t id) { ids.push_back(id); }

}  // namespace

/// The number of an older tape that holds the tensor stays, and this one remembers it.
void Tape::enter(detail::Storage& storage) {
  detail::Storage& holder = detail::holder_of(storage);
  if (outer_ != nullptr && holds(holder.recording.load(std::memory_order_relaxed), outer_))
    append_to(shared_, holder.id);
  else
    holder.recording.store(recording_, std::memory_order_relaxed);
}

bool Tape::entered(const detail::Storage& holder, std::uint32_t number) const {
  return recording_ == number || std::ranges::find(shared_, holder.id) != shared_.end();
}

bool Tape::holds(std::uint32_t number, Tape* innermost) {
  for (const Tape* tape = innermost; tape != nullptr; tape = tape->outer_)
    if (tape->recording_ == number) return true;
  return false;
}

bool Tape::any_recorded() {
  for (const Tape* tape = newest; tape != nullptr; tape = tape->outer_)
    if (tape->count_ > 0) return true;
  return false;
}

void Tape::clear() {
  watched_.clear();
  watched_last_.clear();
  shared_.clear();
  recording_ = next_recording();
  while (last_ != nullptr) pop(History::forgotten);
  while (chunk_ != nullptr) {
    Chunk* const previous = chunk_->previous;
    memory::release(chunk_, chunk_->capacity);
    chunk_ = previous;
  }
}

namespace {

/// While it lives, Tape::retaining() answers `retain`.
class Retaining {
 public:
  explicit Retaining(bool retain) : enclosing_(std::exchange(pass_retains, retain)) {}
  ~Retaining() { pass_retains = enclosing_; }
  Retaining(const Retaining&) = delete;
  Retaining& operator=(const Retaining&) = delete;

 private:
  bool enclosing_;
};

bool reached(const Tape::Node& node) {
  return std::ranges::any_of(node.outputs,
                             [](const Tensor& result) { return result.gradient_data() != nullptr; });
}

void run_back(Tape::Node& node) {
  TapeListener* const listener = TapeListener::current();
  if (listener == nullptr) return node.run(node);
  const Listening deaf(nullptr);
  listener->backward_begins(node);
  node.run(node);
  listener->backward_ends(node);
}

}  // namespace

void Tape::backward(const Tensor& loss, const BackwardOptions& options) {
  if (loss.size() != 1)
    fail("backward: the loss is ", loss.shape(),
         ", not one number; reduce it with sum or mean, or pass a seed");
  backward(loss, Tensor::ones(loss.shape()), options);
}

void Tape::backward(const Tensor& output, const Tensor& seed, const BackwardOptions& options) {
  require_origin(output);
  backward({{output, seed}}, options);
}

void Tape::backward(std::initializer_list<Seed> seeds, const BackwardOptions& options) {
  if (detail::thread_of(detail::next_id()) != detail::thread_of(opened_))
    fail("backward: this tape was opened by another thread; run it backward there");
  for (const auto& [output, gradient] : seeds) {
    if (output.needs_gradient() && output.storage()->history != History::none) require_origin(output);
    if (gradient.shape() != output.shape())
      fail("backward: the seed is ", gradient.shape(), ", the output ", output.shape());
  }
  require_unwritten();
  if (!options.retain) {
    require_last_reader();
    watched_.clear();
    watched_last_.clear();
    shared_.clear();
    recording_ = next_recording();  // ops may write anywhere in their backward pass
  }
  const Pause pause;
  const Retaining retaining(options.retain);
  for (const auto& [output, gradient] : seeds)
    contribute(output, [from = gradient.data()](size_t i) { return from[i]; });
  if (options.retain)
    walk_and_keep();
  else
    walk();
}

/// The tape is empty afterwards, also when an op throws: what is left of it would join the next pass.
void Tape::walk() {
  struct Clear {
    Tape& tape;
    ~Clear() { tape.clear(); }
  } const clear_when_done{*this};
  while (last_ != nullptr) {
    if (reached(*last_)) run_back(*last_);
    pop(History::consumed);
  }
}

/// Views of one result may be outputs of several nodes, so the gradients are cleared when all have run.
void Tape::walk_and_keep() {
  struct ClearGradients {
    Node* last;
    ~ClearGradients() {
      for (Node* node = last; node != nullptr; node = node->previous)
        for (Tensor& output : node->outputs)
          if (output.defined()) output.storage()->clear_gradient();
    }
  } const clear_when_done{last_};
  for (Node* node = last_; node != nullptr; node = node->previous)
    if (reached(*node)) run_back(*node);
}

const char* first_non_finite(const Tape& tape) {
  const char* first = nullptr;
  for (const Tape::Node* node = tape.last(); node != nullptr; node = node->previous)
    for (const Tensor& output : node->outputs)
      if (output.defined() && !std::ranges::all_of(output.values(), [](real v) { return std::isfinite(v); }))
        first = node->op;
  return first;
}

}  // namespace lamina
