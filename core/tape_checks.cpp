// What a tape refuses, with the reason and the remedy: ops that it cannot record, outputs that it did not, and writes
// into what it holds.

#include <algorithm>
#include <functional>
#include <span>

#include "core/math/digest.h"
#include "core/tape.h"
#include "core/threads/parallel.h"

namespace lamina {

using detail::History;

namespace {

/// Whether two handles of one storage have elements in common, and so one place for their gradients. (A detach()
/// has a storage, and so gradients, of its own.)
bool overlap(const Tensor& a, const Tensor& b) {
  return a.defined() && a.data_unwatched() < b.data_unwatched() + b.size() &&
         b.data_unwatched() < a.data_unwatched() + a.size();
}

}  // namespace

void Tape::require_recordable(const char* op, std::span<const Tensor> outputs,
                              std::span<const Tensor> inputs) const {
  if (inside_share() && !in_share_)
    fail(
        op,
        ": recorded inside a share, of which this tape sees only those that its own thread runs; open a tape "
        "in "
        "each share, or pause this one");
  if (outputs.size() > Node::max_outputs)
    fail(op, ": ", outputs.size(), " outputs, and a node of the tape holds ", Node::max_outputs,
         "; put some of them into one tensor and give slices of it, or record several ops");
  for (const Tensor& input : inputs)
    if (input.defined() && input.storage()->history > History::recorded)
      fail(op, ": the input ", input.shape(), " was computed on a tape that ",
           input.storage()->history == History::consumed ? "has run backward since" : "is gone",
           ", so no gradient can flow through it; compute it again on this tape, or pass its detach(), which "
           "is "
           "a constant");
  for (const Tensor& input : inputs)
    for (const Tensor& output : outputs)
      if (input.storage() == output.storage() && overlap(input, output))
        fail(op, ": its result ", output.shape(),
             " is an input or a view of one, so the gradients of both would have one place; give it values "
             "of its own, as copy() does");
}

void Tape::require_origin(const Tensor& output) const {
  const auto is_output = [&](const Tensor& result) { return result.storage() == output.storage(); };
  const Node* origin = output.needs_gradient() ? last_ : nullptr;
  while (origin != nullptr && !std::ranges::any_of(origin->outputs, is_output)) origin = origin->previous;
  if (origin == nullptr) fail_without_origin(output);
}

/// Why the output of a backward pass is not on this tape: each mistake has its own remedy.
void Tape::fail_without_origin(const Tensor& output) const {
  if (!output.defined()) fail("backward: the output is an empty handle; pass the result of an op");
  const detail::Storage& storage = *output.storage();
  switch (storage.history) {
    case History::consumed:
      fail(
          "backward: a tape has already run backward from this output and has let go of what led to it; add "
          "several losses up and run backward once, or record the forward pass again");
    case History::forgotten:
      fail(
          "backward: the tape that recorded this output was cleared or destroyed; run backward while it "
          "lives");
    case History::recorded:
      fail("backward: the output was recorded on another tape; run that one backward");
    case History::none:
      break;
  }
  if (storage.needs_gradient)
    fail("backward: the output is a leaf itself; pass a result that was computed from it");
  if (detail::thread_of(storage.id) != detail::thread_of(opened_))
    fail(
        "backward: the output was computed by another thread, which this tape does not record; open a tape "
        "in "
        "the thread that runs the forward pass");
  if (storage.id < opened_)
    fail("backward: the output was computed before this tape was opened; open it before the forward pass");
  fail(
      "backward: the output depends on no leaf that asks for its gradient; call require_gradient() on "
      "one, or thaw() what is frozen, before the forward pass, and have no detach() or Tape::Pause on the "
      "way");
}

namespace {

/// Of the values' bits, to detect changes.
std::uint64_t digest_of_values(const detail::Storage& storage, size_t begin, const Shape& shape) {
  return digest_of(std::as_bytes(std::span(storage.values + begin, shape.size())));
}

}  // namespace

/// A whole tensor is watched once until an op reads it again. Where a part is handed out, others may be later; and a
/// session may still fill the rest of the tensor.
void detail::before_writing(Storage* storage, size_t offset, const Shape& shape) {
  if (storage == nullptr) fail_empty("tensor");
  Storage& holder = holder_of(*storage);
  const std::uint32_t number = holder.recording.load(std::memory_order_relaxed);
  if (number == 0) return;
  bool held = false;
  for (Tape* tape = Tape::opened_last(); tape != nullptr; tape = tape->outer_)
    if (tape->entered(holder, number)) {
      tape->watch(&holder, static_cast<size_t>(storage->values - holder.values) + offset, shape);
      held = true;
    }
  if (!held || shape.size() == holder.size) holder.recording.store(0, std::memory_order_relaxed);
}

/// Ops that had other leaves are on the tape and would contribute to the gradient; those that had none are not.
void detail::require_unread(const Storage& storage, const Shape& shape) {
  for (const Tape* tape = Tape::opened_last(); tape != nullptr; tape = tape->outer_)
    for (const Tape::Node* node = tape->last_; node != nullptr; node = node->previous)
      if (std::ranges::find(node->inputs, storage.id) != node->inputs.end())
        fail("require_gradient: a tape has recorded the op '", node->op, "' with this ", shape,
             " as a constant, and its gradient would be incomplete; call it before the forward pass, or on a "
             "detach() or copy()");
}

/// Once for all elements that a loop asks for one after another. Of two that have the same hash the earlier one may be watched
/// twice.
void Tape::watch(detail::Storage* storage, size_t begin, const Shape& shape) {
  const auto is_it = [&](const Watched& last) {
    return last.nodes == count_ && last.storage.get() == storage && last.begin == begin &&
           last.shape == shape;
  };
  if (!watched_.empty() && is_it(watched_.back())) return;
  size_t hash = std::hash<detail::Storage*>()(storage);
  for (const size_t part : {begin, shape.size(), shape.columns()}) hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
  const auto [last, is_new] = watched_last_.try_emplace(hash, watched_.size());
  if (!is_new && is_it(watched_[last->second])) return;
  last->second = watched_.size();
  watched_.push_back(
      {detail::StorageHandle(storage), begin, shape, count_, digest_of_values(*storage, begin, shape)});
}

bool Tape::watches(const Tensor& x) const {
  if (!x.defined()) return false;
  const detail::Storage& holder = detail::holder_of(*x.storage());
  return std::ranges::any_of(watched_, [&](const Watched& each) { return each.storage.get() == &holder; });
}

void Tape::require_unwritten() const {
  for (const Watched& watched : watched_) {
    if (digest_of_values(*watched.storage.get(), watched.begin, watched.shape) == watched.digest) continue;
    const auto uses = [&](const Node& node) {
      return std::ranges::any_of(node.outputs,
                                 [&](const Tensor& t) {
                                   return t.defined() &&
                                          detail::holder_of(*t.storage()).id == watched.storage->id;
                                 }) ||
             std::ranges::any_of(node.inputs, [&](std::uint64_t id) { return id == watched.storage->id; });
    };
    const Node* node = last_;
    while (node != nullptr && !uses(*node)) node = node->previous;
    fail("backward: a tensor ", watched.shape, node == nullptr ? "" : text(" of the op '", node->op, "'"),
         " was written after it was recorded, so the gradient would be wrong; write before the forward "
         "pass or after backward(), or into a copy(), and evaluate under Tape::Pause, or it is recorded, too",
         watched.shape.size() < watched.storage->size
             ? "; an op holds all of the tensor of which it reads a part, so fill every part before it, or "
               "pass it a copy() of its part"
             : "");
  }
}

/// The gradient that a later tape leaves on a result of this one flows on only in a pass that is still to come.
void Tape::require_last_reader() const {
  const auto is_result = [this](std::uint64_t id) {
    for (const Node* node = last_; node != nullptr; node = node->previous)
      for (const Tensor& output : node->outputs)
        if (output.defined() && output.storage()->id == id) return true;
    return false;
  };
  for (const Tape* later = opened_last(); later != this; later = later->outer_)
    for (const Node* node = later->last_; node != nullptr; node = node->previous)
      if (std::ranges::any_of(node->inputs, is_result))
        fail("backward: a tape that was opened later holds the op '", node->op,
             "' on a result of this one, which its gradient would reach too late; run that tape backward "
             "first, clear() it, or pass the result's detach() to the op");
}

}  // namespace lamina
