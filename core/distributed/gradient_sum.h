#pragma once
// The sum of a model's gradients over all ranks, which begins while the backward pass still runs.
//
// The flat gradient buffer is cut into buckets of whole parameters. The backward pass completes the gradients of the last
// layers first: as soon as the last op that uses any parameter of a bucket has run, its sum starts, in place, and the
// ops that follow run beside it. Buckets start in the same order on every rank, last one first.
//
//   GradientSum sum(parameters);
//   sum.begin();            // before the forward pass
//   ... tape.backward(loss);
//   sum.finish();           // parameters.gradients() are the sums now
//
// Where only an optimizer reads them, and ranks update parts of a model in common memory, no rank needs all sums:
//
//   sum.begin(SumsAre::left_to_the_update);
//   ... tape.backward(loss);
//   sum.finish();           // all ranks have completed their gradients
//   sum.sum_here(range);    // for each range of its part that the optimizer reads, just before
//
// One backward pass runs between begin() and finish(): a second one would add to buckets whose sums have begun.
//
// The ops of a tape say which parameters they use (their inputs). A bucket with a parameter that no op names, as one
// used inside a checkpointed piece only, is summed by finish(), and so are all where something else listens to the tape.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/distributed/machine/neighbour_sum.h"
#include "core/listener.h"
#include "core/parameters.h"

namespace lamina::distributed {

/// Numbers in a bucket, at least: below, a sum is mostly latency.
inline constexpr size_t smallest_bucket = size_t{1} << 18;

enum class SumsAre {
  complete,           ///< after finish(), on every rank
  left_to_the_update  ///< sum_here() finds them; without neighbours they are complete all the same
};

class GradientSum final : public TapeListener {
 public:
  /// `parameters` must outlive this, and may not grow. Which of them are frozen may change, on all ranks alike, before the
  /// forward pass of a step.
  /// `neighbours`: sums them instead of the group, unless null; must outlive this, too.
  explicit GradientSum(Parameters& parameters, size_t bucket = smallest_bucket,
                       NeighbourSum* neighbours = nullptr);

  void begin(SumsAre sums = SumsAre::complete);
  void finish();

  /// After finish(): the sums in this range of the flat gradient buffer, where they were left to the update. Does nothing
  /// where they are complete.
  void sum_here(Range range) const;

  void recorded(const Tape::Node& node, std::span<const Tensor> inputs) override;
  void backward_ends(const Tape::Node& node) override;

  /// How many buckets there are, and how many had started before finish().
  size_t buckets() const { return buckets_.size(); }
  size_t started_early() const { return started_early_; }

 private:
  struct Bucket {
    Range range;         ///< of the flat gradient buffer
    size_t first, last;  ///< its parameters: first <= i < last
  };
  bool is_complete(const Bucket& bucket) const;
  void start_next();
  void cut_into_buckets();

  Parameters& parameters_;
  size_t bucket_;  ///< numbers in one, at least
  NeighbourSum* neighbours_;
  bool left_ = false;                          ///< to the update, in this step
  std::map<std::uint64_t, size_t> number_of_;  ///< of a parameter, by its buffer's id
  std::vector<std::uint64_t> uses_;            ///< by ops whose backward pass is to come, of each parameter
  std::vector<bool> used_;                     ///< by any op of this step
  std::vector<Range> trained_;                 ///< what the buckets hold
  std::vector<Bucket> buckets_;                ///< in the order in which they start
  size_t started_ = 0, started_early_ = 0;
  std::optional<Listening> listening_;
};

}  // namespace lamina::distributed
