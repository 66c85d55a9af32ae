#include "core/math/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <type_traits>

#include "core/error.h"
#include "core/threads/parallel.h"

namespace lamina {

namespace {

constexpr std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_word(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

PhiloxKey key_of(std::uint64_t seed) { return {low_word(seed), high_word(seed)}; }

PhiloxBlock counter_of(std::uint64_t block, std::uint64_t stream) {
  return {low_word(block), high_word(block), low_word(stream), high_word(stream)};
}

// The body of `philox`, here so that the loop over lanes below can inline and vectorize it. A round
// multiplies two of the words, and the high halves of the products, which depend on every bit, are mixed into
// the other two.
inline void philox_rounds(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d,
                          PhiloxKey key) {
  constexpr std::uint64_t multiplier_a = 0xD2511F53, multiplier_c = 0xCD9E8D57;
  constexpr std::uint32_t golden_ratio = 0x9E3779B9, root_three = 0xBB67AE85;
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_a = multiplier_a * a, product_c = multiplier_c * c;
    a = high_word(product_c) ^ b ^ key[0];
    c = high_word(product_a) ^ d ^ key[1];
    b = low_word(product_c);
    d = low_word(product_a);
    key[0] += golden_ratio;
    key[1] += root_three;
  }
}

// ---- words to numbers ---------------------------------------------------------------------------

constexpr bool real_is_double = std::is_same_v<real, double>;
constexpr size_t words_per_real = real_is_double ? 2 : 1;
constexpr size_t reals_per_block = 4 / words_per_real;

/// A number in [0, 1) from the bits that fit the significand: 24 of `first`, or 53 of both.
inline real unit(std::uint32_t first, [[maybe_unused]] std::uint32_t second) {
  if constexpr (real_is_double) {
    const std::uint64_t high = first >> 5, low = second >> 6;
    return static_cast<real>(high << 26 | low) * real(0x1p-53);
  } else {
    return static_cast<real>(static_cast<std::int32_t>(first >> 8)) * real(0x1p-24);
  }
}

/// ln(x) of a positive normal number. x = m 2^e with m in [sqrt(1/2), sqrt(2)), and ln m = 2 artanh(s) with
/// s = (m - 1) / (m + 1), |s| < 0.172, whose series needs 5 terms in float and 11 in double.
inline real logarithm(real x) {
  using Bits = std::conditional_t<real_is_double, std::uint64_t, std::uint32_t>;
  constexpr int fraction_bits = std::numeric_limits<real>::digits - 1;
  constexpr Bits root_half = std::bit_cast<Bits>(std::numbers::sqrt2_v<real> / 2);
  const Bits above = std::bit_cast<Bits>(x) - root_half;
  const auto exponent = static_cast<real>(static_cast<std::make_signed_t<Bits>>(above) >> fraction_bits);
  const Bits fraction = above & ((Bits{1} << fraction_bits) - 1);
  const real m = std::bit_cast<real>(fraction + root_half);
  const real s = (m - 1) / (m + 1);
  real series = 0;
  constexpr int last = real_is_double ? 21 : 9;
#pragma GCC unroll 11
  for (int power = last; power >= 1; power -= 2) series = series * s * s + real(1) / static_cast<real>(power);
  return exponent * std::numbers::ln2_v<real> + 2 * s * series;
}

/// Cosine and sine of a whole number of `turns` in [0, 1): quarters are exact, the rest is a series for
/// |angle| <= pi/4.
inline void cosine_and_sine(real turns, real& cosine, real& sine) {
  const int quarter = static_cast<int>(turns * 4 + real(0.5));
  const real angle = (turns - static_cast<real>(quarter) / 4) * (2 * std::numbers::pi_v<real>);
  const real square = angle * angle;
  real c = 1, s = 1;
  constexpr int last = real_is_double ? 18 : 10;
#pragma GCC unroll 9
  for (int power = last; power >= 2; power -= 2) {
    c = 1 - c * square / static_cast<real>(power * (power - 1));
    s = 1 - s * square / static_cast<real>(power * (power + 1));
  }
  s *= angle;
  const real x = quarter & 1 ? s : c, y = quarter & 1 ? c : s;
  cosine = (quarter + 1) & 2 ? -x : x;
  sine = quarter & 2 ? -y : y;
}

/// Box and Muller: two uniform numbers become two independent normal ones.
inline void box_muller(real first, real second, real& x, real& y) {
  const real radius = std::sqrt(-2 * logarithm(1 - first));  // 1 - first is exact and in (0, 1]
  cosine_and_sine(second, x, y);
  x *= radius;
  y *= radius;
}

// ---- bulk ---------------------------------------------------------------------------------------

constexpr size_t lanes = 16;  // blocks computed in parallel, one per vector lane
constexpr size_t group = lanes * reals_per_block;

/// unit[i][lane] is number i of block `first_block + lane`.
struct Units {
  alignas(64) real unit[reals_per_block][lanes];
};

Units uniform_lanes(Random::State state, std::uint64_t first_block) {
  alignas(64) std::uint32_t words[4][lanes];
  const PhiloxKey key = key_of(state.seed);
#pragma omp simd
  for (size_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t block = first_block + lane;
    std::uint32_t a = low_word(block), b = high_word(block), c = low_word(state.stream),
                  d = high_word(state.stream);
    philox_rounds(a, b, c, d, key);
    words[0][lane] = a;
    words[1][lane] = b;
    words[2][lane] = c;
    words[3][lane] = d;
  }
  Units units;
  for (size_t i = 0; i < reals_per_block; ++i) {
    const auto& first = words[i * words_per_real];
    const auto& second = words[i * words_per_real + words_per_real - 1];
    for (size_t lane = 0; lane < lanes; ++lane) units.unit[i][lane] = unit(first[lane], second[lane]);
  }
  return units;
}

void make_normal(Units& units) {
  for (size_t i = 0; i < reals_per_block; i += 2) {
    real* first = units.unit[i];
    real* second = units.unit[i + 1];
#pragma omp simd
    for (size_t lane = 0; lane < lanes; ++lane) {
      real x, y;
      box_muller(first[lane], second[lane], x, y);
      first[lane] = x;
      second[lane] = y;
    }
  }
}

/// values[i] = shift + scale * number i. Whole groups of lanes are computed even where only a part is wanted,
/// so that a number comes from the same instructions wherever a thread's share begins.
template <class Transform>
void fill(real* values, size_t count, real shift, real scale, Random::State state, std::uint64_t first_block,
          const Transform& transform) {
  constexpr size_t grain =
      128;  // groups; measured: below this, starting a second thread costs more than it saves
  parallel_for((count + group - 1) / group, grain, [&](size_t begin, size_t end) {
    for (size_t g = begin; g < end; ++g) {
      Units units = uniform_lanes(state, first_block + g * lanes);
      transform(units);
      alignas(64) real ordered[group];
      for (size_t lane = 0; lane < lanes; ++lane) {
        for (size_t i = 0; i < reals_per_block; ++i) {
          ordered[lane * reals_per_block + i] = shift + scale * units.unit[i][lane];
        }
      }
      std::copy_n(ordered, std::min(group, count - g * group), values + g * group);
    }
  });
}

}  // namespace

PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
  philox_rounds(counter[0], counter[1], counter[2], counter[3], key);
  return counter;
}

std::uint32_t Random::bits() {
  const State wanted{state_.seed, state_.stream, state_.position / 4};
  if (wanted != block_of_) {
    block_ = philox(counter_of(wanted.position, wanted.stream), key_of(wanted.seed));
    block_of_ = wanted;
  }
  return block_[state_.position++ % 4];
}

real Random::uniform() {
  const std::uint32_t first = bits();
  return unit(first, real_is_double ? bits() : 0);
}

real Random::uniform(real low, real high) { return low + (high - low) * uniform(); }

real Random::normal() {
  const real first = uniform(), second = uniform();
  real x, y;
  box_muller(first, second, x, y);
  return x;
}

std::uint32_t Random::below(std::uint32_t n) {
  if (n == 0) fail("Random::below(0): there is no number below 0; pass at least 1");
  // Lemire's method: the high half of bits * n is the answer. 2^32 is not a multiple of n, so the first
  // 2^32 mod n of the low halves are one too many for some answers; those draws are thrown away.
  std::uint64_t product = std::uint64_t{bits()} * n;
  if (low_word(product) < n) {
    const std::uint32_t surplus = (0U - n) % n;
    while (low_word(product) < surplus) product = std::uint64_t{bits()} * n;
  }
  return high_word(product);
}

void Random::fill_uniform(real* values, size_t count, real low, real high) {
  const std::uint64_t first_block = next_block();
  fill(values, count, low, high - low, state_, first_block, [](Units&) {});
  state_.position = first_block * 4 + count * words_per_real;
}

void Random::fill_normal(real* values, size_t count, real mean, real deviation) {
  const std::uint64_t first_block = next_block();
  fill(values, count, mean, deviation, state_, first_block, make_normal);
  state_.position = first_block * 4 + (count + 1) / 2 * 2 * words_per_real;
}

std::vector<int> Random::permutation(size_t n) {
  if (n > static_cast<size_t>(std::numeric_limits<int>::max())) {
    fail("Random::permutation(", n, "): more numbers than an int can count");
  }
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 0);
  permute(values);
  return values;
}

void Random::permute(std::vector<int>& values) {
  // Fisher and Yates: each place, from the last, takes one of the values not yet placed.
  for (size_t remaining = values.size(); remaining > 1; --remaining) {
    std::swap(values[remaining - 1], values[below(static_cast<std::uint32_t>(remaining))]);
  }
}

Random Random::split(std::uint64_t stream) const {
  // The new stream's number is itself Philox output. A flipped key keeps it apart from the numbers drawn
  // here.
  const PhiloxBlock mixed = philox(counter_of(stream, state_.stream), key_of(~state_.seed));
  return Random(state_.seed, std::uint64_t{mixed[1]} << 32 | mixed[0]);
}

}  // namespace lamina
