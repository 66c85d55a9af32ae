#pragma once
// Sums over the ranks of one machine that read each other's memory, without copies in between.
//
// A range that all ranks have completed is cut into a piece for each rank. Each sums its piece, in the order of the ranks,
// where it has its own numbers; then each takes over the pieces of the others. Who is how far is told by counters that
// all can read.

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/real.h"
#include "core/threads/parallel.h"

namespace lamina::distributed {

/// What a rank tells the others, since the beginning. It alone writes them.
struct Signals {
  std::atomic<std::uint64_t> started = 0;  ///< ranges whose numbers are complete
  std::atomic<std::uint64_t> summed = 0;   ///< ranges whose own piece is the sum
  std::atomic<std::uint64_t> met = 0;      ///< meetings that it has reached
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share them");

/// A rank's numbers and signals, as this process sees them.
struct Neighbour {
  real* values;
  Signals* signals;
};

class NeighbourSum {
 public:
  /// `ranks` are all, this one included, by rank.
  NeighbourSum(std::vector<Neighbour> ranks, size_t own) : ranks_(std::move(ranks)), own_(own) {}

  /// Of numbers which are complete here. Until finish() they may be neither read nor written. All ranks start the same
  /// ranges in the same order.
  void start(Range range);
  /// Does what can be done without waiting.
  void progress();
  /// Waits until all ranks have the sums of all ranges.
  void finish();
  /// Returns once all ranks are here: what each has written before, all can read.
  void meet();
  /// Of this range at once, in this rank's memory alone. All ranks have completed it and met; nobody else may read what
  /// this rank has there.
  void sum_here(Range range) const;

 private:
  using Counter = std::atomic<std::uint64_t> Signals::*;
  bool all_reached(Counter counter, std::uint64_t count) const;
  std::atomic<std::uint64_t>& own(Counter counter) const { return ranks_[own_].signals->*counter; }
  Range piece_of(Range range, size_t rank) const;
  void copy_pieces(Range range) const;

  std::vector<Neighbour> ranks_;
  size_t own_;
  std::vector<Range> ranges_;       ///< that were started since finish()
  size_t summed_ = 0, copied_ = 0;  ///< of them
  std::uint64_t finished_ = 0;      ///< ranges before them
};

}  // namespace lamina::distributed
