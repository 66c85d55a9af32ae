#pragma once
// Random numbers that are a pure function of (seed, stream, position).
//
// A conventional generator is a chain: number n needs the n - 1 before it. A counter-based generator
// scrambles the number's position itself, as a block cipher does, so any part of the sequence can be computed
// by any thread at any time. This one is Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011): one 128-bit counter and one 64-bit key give one block of four
// 32-bit words.
//
//   key     = seed
//   counter = (block number: 64 bits, stream: 64 bits)
//
//   Random random(seed);
//   random.fill_normal(weights, count, 0, 0.01);
//   Random epoch_order = random.split(epoch);       // independent of everything drawn from `random`
//   auto saved = random.state();                    // three integers are the whole state

#include <array>
#include <cstdint>
#include <vector>

#include "core/real.h"

namespace lamina {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// One block of Philox4x32-10, the bijection under `Random`; words are least significant first.
PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key);

class Random {
 public:
  /// All that has to be saved: the next 32-bit word is number `position` of the sequence (seed, stream).
  struct State {
    std::uint64_t seed = 0;
    std::uint64_t stream = 0;
    std::uint64_t position = 0;
    bool operator==(const State&) const = default;
  };

  /// Generators that differ in the seed or in the stream are independent.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : state_{seed, stream, 0} {}

  /// 32 random bits.
  std::uint32_t bits();

  /// Uniform in [0, 1): a multiple of 2^-24, or of 2^-53 when `real` is double.
  real uniform();

  /// Uniform in [low, high); rounding can return `high` itself when the interval is narrow for its magnitude.
  real uniform(real low, real high);

  /// Normal with mean 0 and deviation 1 by Box and Muller. The second number of the pair is dropped: to keep
  /// it would be state that a checkpoint could miss. `fill_normal` uses both.
  real normal();

  /// Uniform in {0, ..., n - 1}, without bias. Throws Error when n is 0.
  std::uint32_t below(std::uint32_t n);

  /// `count` uniform numbers. Starts at a new block (skips up to three words); from there the numbers are
  /// those that repeated calls of `uniform(low, high)` give. Runs in parallel; the result never depends on
  /// threads.
  void fill_uniform(real* values, size_t count, real low, real high);

  /// `count` normal numbers. Starts at a new block and draws pairs, so the numbers are not those of repeated
  /// `normal()`. Runs in parallel; the result never depends on threads. None is beyond 5.8 deviations in
  /// float (8.6 in double): the smallest uniform number decides.
  void fill_normal(real* values, size_t count, real mean, real deviation);

  /// The numbers 0 to n - 1 in random order.
  std::vector<int> permutation(size_t n);

  /// Puts the values into random order; every order is equally likely.
  void permute(std::vector<int>& values);

  /// An independent generator, the same one for the same (seed, stream) of this one and the same `stream`,
  /// whatever has been drawn so far. Splits nest.
  Random split(std::uint64_t stream) const;

  State state() const { return state_; }
  void restore(State state) { state_ = state; }

 private:
  std::uint64_t next_block() const { return (state_.position + 3) / 4; }

  State state_;
  // The block last computed. It is derived from `state_`, so nothing is lost when it is not saved.
  PhiloxBlock block_{};
  State block_of_{0, 0, ~std::uint64_t{0}};
};

}  // namespace lamina
