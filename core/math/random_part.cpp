#include "core/math/random_part.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace lamina {

namespace {

constexpr size_t words_per_block = 4, words_per_real = sizeof(real) / sizeof(std::uint32_t),
                 reals_per_block = words_per_block / words_per_real;

/// The place in the sequence of number `first`, which begins a block, of a fill that would begin now.
Random at(const Random& random, size_t first) {
  Random::State state = random.state();
  state.position =
      (state.position + words_per_block - 1) / words_per_block * words_per_block + first * words_per_real;
  Random moved = random;
  moved.restore(state);
  return moved;
}

}  // namespace

/// The block that holds the first number may begin with earlier ones.
void fill_uniform_part(const Random& random, size_t first, real* values, size_t count, real low, real high) {
  const size_t earlier = first % reals_per_block,
               begun = earlier > 0 ? std::min(count, reals_per_block - earlier) : 0;
  if (begun > 0) {
    std::array<real, reals_per_block> block;
    at(random, first - earlier).fill_uniform(block.data(), block.size(), low, high);
    std::copy_n(block.begin() + earlier, begun, values);
  }
  if (count > begun) at(random, first + begun).fill_uniform(values + begun, count - begun, low, high);
}

void skip_uniform(Random& random, size_t count) { random = at(random, count); }

}  // namespace lamina
