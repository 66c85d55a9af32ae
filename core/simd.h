#pragma once
// The vector of the matrix kernels, in GCC's and clang's vector extension: plain +, * and indexing on as many
// numbers as one register of the target CPU holds. Included by kernels only, never by a public header.

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/real.h"

#if defined(__AVX2__)  // with AVX-512 too
#include <immintrin.h>
#endif

namespace lamina::simd {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64, vector_registers = 32;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32, vector_registers = 16;
#else
inline constexpr int vector_bytes = 16, vector_registers = 16;
#endif

using vec = real __attribute__((vector_size(vector_bytes)));

/// Numbers in one vector.
inline constexpr int lanes = vector_bytes / static_cast<int>(sizeof(real));

// Any alignment will do: memcpy is how C++ spells an unaligned load, and compiles to one instruction.
inline vec load(const real* p) {
  vec x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
inline void store(real* p, vec x) { std::memcpy(p, &x, sizeof x); }
inline vec splat(real x) { return x - vec{}; }

#if defined(__AVX2__) && !defined(__AVX512F__)
/// The mask of the first `count` lanes: AVX2 takes the sign of each.
inline __m256i first_lanes(size_t count) {
#ifdef LAMINA_DOUBLE
  alignas(64) static constexpr long long signs[2 * lanes] = {-1, -1, -1, -1};
#else
  alignas(64) static constexpr int signs[2 * lanes] = {-1, -1, -1, -1, -1, -1, -1, -1};
#endif
  __m256i mask;
  std::memcpy(&mask, signs + lanes - count, sizeof mask);
  return mask;
}
#endif

/// The first `count` < lanes numbers at p, then zeros; reads nothing else.
inline vec load_first(const real* p, size_t count) {
#if defined(__AVX512F__) && !defined(LAMINA_DOUBLE)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
#elif defined(__AVX512F__)
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), p);
#elif defined(__AVX2__) && !defined(LAMINA_DOUBLE)
  return _mm256_maskload_ps(p, first_lanes(count));
#elif defined(__AVX2__)
  return _mm256_maskload_pd(p, first_lanes(count));
#else
  alignas(vec) real padded[lanes] = {};
  std::memcpy(padded, p, count * sizeof(real));
  return load(padded);
#endif
}

/// Writes the first `count` < lanes numbers of x and touches nothing else.
inline void store_first(real* p, vec x, size_t count) {
#if defined(__AVX512F__) && !defined(LAMINA_DOUBLE)
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), x);
#elif defined(__AVX512F__)
  _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << count) - 1), x);
#elif defined(__AVX2__) && !defined(LAMINA_DOUBLE)
  _mm256_maskstore_ps(p, first_lanes(count), x);
#elif defined(__AVX2__)
  _mm256_maskstore_pd(p, first_lanes(count), x);
#else
  alignas(vec) real padded[lanes];
  store(padded, x);
  std::memcpy(p, padded, count * sizeof(real));
#endif
}

/// Keeps x in a register: without it the compiler may load x again for every use, straight from memory.
inline void hold(vec& x) {
#if defined(__AVX512F__)
  asm("" : "+v"(x));
#elif defined(__x86_64__)
  asm("" : "+x"(x));
#else
  (void)x;
#endif
}

/// Keeps an array in memory: without it the compiler may spread the array over registers that sums need.
inline real* in_memory(real* array) {
  asm("" : "+r"(array));
  return array;
}

/// Lane i is number place[i] of x and y one after another.
template <int... place>
vec shuffled(vec x, vec y) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(x, y, place...);
#else
  using Number = std::conditional_t<sizeof(real) == 8, long long, int>;
  using Places = Number __attribute__((vector_size(vector_bytes)));
  return __builtin_shuffle(x, y, Places{place...});
#endif
}

// Seen as squares of `step` x `step` blocks, two vectors x and y form [x0 x1; y0 y1]. `block_column<0>` takes
// the left blocks of both, `block_column<1>` the right ones: exchanging x1 and y0, the step from which a
// transpose (apply it for every power of two) and a sum over the lanes of many vectors at once are built.
template <int side, int step, size_t... lane>
vec block_column(vec x, vec y, std::index_sequence<lane...>) {
  return shuffled<((lane & step) ? lanes + static_cast<int>(lane) - (side ? 0 : step)
                                 : static_cast<int>(lane) + (side ? step : 0))...>(x, y);
}
template <int side, int step>
vec block_column(vec x, vec y) {
  return block_column<side, step>(x, y, std::make_index_sequence<lanes>{});
}

template <int step, int count>
[[gnu::always_inline]] inline void transpose_step(vec (&x)[count]) {
#pragma GCC unroll 16
  for (int i = 0; i < count; ++i) {
    if (i & step) continue;
    const vec left = block_column<0, step>(x[i], x[i + step]);
    x[i + step] = block_column<1, step>(x[i], x[i + step]);
    x[i] = left;
  }
}

/// x[i][j] <-> x[j][i], in registers. With half as many vectors as lanes, each half is transposed separately:
/// x[i] becomes column i followed by column i + lanes / 2.
template <int count>
[[gnu::always_inline]] inline void transpose(vec (&x)[count]) {
  static_assert(count == lanes || count == lanes / 2);
  if constexpr (count >= 16) transpose_step<8>(x);
  if constexpr (count >= 8) transpose_step<4>(x);
  if constexpr (count >= 4) transpose_step<2>(x);
  if constexpr (count >= 2) transpose_step<1>(x);
}

/// Moves the second half of x to the first.
template <size_t... lane>
vec second_half(vec x, std::index_sequence<lane...>) {
  return shuffled<(static_cast<int>(lane + lanes / 2) % lanes)...>(x, x);
}
inline vec second_half(vec x) { return second_half(x, std::make_index_sequence<lanes>{}); }

template <int step>
void sum_step(vec (&x)[lanes]) {
#pragma GCC unroll 16
  for (int i = 0; i < step; ++i)
    x[i] = block_column<0, step>(x[i], x[i + step]) + block_column<1, step>(x[i], x[i + step]);
}

/// The vector whose lane i is the sum of the lanes of x[i]: a transpose that adds as it goes.
inline vec sum_lanes(vec (&x)[lanes]) {
  if constexpr (lanes >= 16) sum_step<8>(x);
  if constexpr (lanes >= 8) sum_step<4>(x);
  if constexpr (lanes >= 4) sum_step<2>(x);
  sum_step<1>(x);
  return x[0];
}

}  // namespace lamina::simd
