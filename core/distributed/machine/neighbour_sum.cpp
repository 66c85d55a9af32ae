#include "core/distributed/machine/neighbour_sum.h"

#include <algorithm>
#include <array>

#include "core/distributed/machine/waiting.h"

namespace lamina::distributed {

namespace {
constexpr size_t cache_line = 64 / sizeof(real);  // in numbers: pieces share none
}

void NeighbourSum::start(Range range) {
  ranges_.push_back(range);
  own(&Signals::started).store(finished_ + ranges_.size(), std::memory_order_release);
  progress();
}

void NeighbourSum::progress() {
  for (; summed_ < ranges_.size() && all_reached(&Signals::started, finished_ + summed_ + 1); ++summed_) {
    sum_here(piece_of(ranges_[summed_], own_));
    own(&Signals::summed).store(finished_ + summed_ + 1, std::memory_order_release);
  }
  for (; copied_ < summed_ && all_reached(&Signals::summed, finished_ + copied_ + 1); ++copied_)
    copy_pieces(ranges_[copied_]);
}

/// The meeting: who has all sums may change them, which others have to copy before.
void NeighbourSum::finish() {
  for (Waiting wait; copied_ < ranges_.size(); wait()) progress();
  finished_ += ranges_.size();
  ranges_.clear();
  summed_ = copied_ = 0;
  meet();
}

void NeighbourSum::meet() {
  const std::uint64_t meeting = own(&Signals::met).load(std::memory_order_relaxed) + 1;
  own(&Signals::met).store(meeting, std::memory_order_release);
  for (Waiting wait; !all_reached(&Signals::met, meeting); wait()) {
  }
}

bool NeighbourSum::all_reached(Counter counter, std::uint64_t count) const {
  return std::ranges::all_of(ranks_, [&](const Neighbour& rank) {
    return (rank.signals->*counter).load(std::memory_order_acquire) >= count;
  });
}

Range NeighbourSum::piece_of(Range range, size_t rank) const {
  const Range part = part_of(range.size(), rank, ranks_.size(), cache_line);
  return {range.begin + part.begin, range.begin + part.end};
}

/// The first two at once, then one after another: for two ranks each number is written once.
void NeighbourSum::sum_here(Range range) const {
  if (ranks_.size() == 2) {
    for_each_index(range.size(), [to = ranks_[own_].values + range.begin, a = ranks_[0].values + range.begin,
                                  b = ranks_[1].values + range.begin](size_t i) { to[i] = a[i] + b[i]; });
    return;
  }
  constexpr size_t block = 1024;
  parallel_for(
      range.size(), elementwise_grain,
      [&](size_t begin, size_t end) {
        std::array<real, block> sums;
        for (size_t at = range.begin + begin; at < range.begin + end; at += block) {
          const size_t count = std::min(block, range.begin + end - at);
          std::copy_n(ranks_[0].values + at, count, sums.data());
          for (size_t rank = 1; rank < ranks_.size(); ++rank) {
            const real* const other = ranks_[rank].values + at;
            for (size_t i = 0; i < count; ++i) sums[i] += other[i];
          }
          std::copy_n(sums.data(), count, ranks_[own_].values + at);
        }
      },
      cache_line);
}

void NeighbourSum::copy_pieces(Range range) const {
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (rank == own_) continue;
    const Range piece = piece_of(range, rank);
    for_each_index(piece.size(), [from = ranks_[rank].values + piece.begin,
                                  to = ranks_[own_].values + piece.begin](size_t i) { to[i] = from[i]; });
  }
}

}  // namespace lamina::distributed
