#pragma once
// Sums in a fixed order that run at the speed of the memory and stay accurate however long they are.
//
// A running sum of n numbers rounds n times at its full size, so its error grows with n. Pairwise summation
// adds the sums of the two halves, each found in the same way: every number goes through log2(n) additions.
// Halving ends at blocks small enough for a plain loop, so it costs nothing.

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/real.h"

namespace lamina {

/// The lanes' sum, in halves: every addition but the last few is one of whole vectors.
template <size_t lanes>
[[gnu::always_inline]] inline real sum_of_lanes(real (&running)[lanes]) {
  if constexpr (lanes == 1) {
    return running[0];
  } else {
    real half[lanes / 2];
#pragma omp simd
    for (size_t lane = 0; lane < lanes / 2; ++lane) half[lane] = running[lane] + running[lane + lanes / 2];
    return sum_of_lanes(half);
  }
}

/// Two numbers that are summed together.
struct TwoSums {
  real first, second;
  friend TwoSums operator+(TwoSums a, TwoSums b) { return {a.first + b.first, a.second + b.second}; }
};

namespace detail {

inline constexpr size_t terms_in_sequence = 4096;  // below, running sums

/// The same count, hidden from the compiler: it would split a loop that it knows to be short in two, and pass
/// the running sums between them through memory.
[[gnu::always_inline]] inline size_t unknown(size_t count) {
  asm("" : "+r"(count));
  return count;
}

inline constexpr size_t steps_in_sequence = 8;  // of all lanes together

/// step(done) adds the terms from number `done` on to the lanes of `running`, as many as there are lanes. After every
/// few steps of a long sum the lanes move to totals of their own: an error that repeats, as with equal terms, stays
/// small. Returns how many terms were added; fewer than one step's are left.
template <size_t lanes, size_t kinds, class Step>
[[gnu::always_inline]] inline size_t sum_steps(size_t count, real (&running)[kinds][lanes],
                                               const Step& step) {
  constexpr size_t block = lanes * steps_in_sequence;
  size_t done = 0;
  if (count >= 2 * block) {
    alignas(64) real total[kinds][lanes] = {};
    while (done + block <= count) {
      for (size_t i = 0; i < steps_in_sequence; ++i, done += lanes) step(done);
      for (size_t kind = 0; kind < kinds; ++kind)
#pragma omp simd
        for (size_t lane = 0; lane < lanes; ++lane) {
          total[kind][lane] += running[kind][lane];
          running[kind][lane] = 0;
        }
    }
    for (size_t kind = 0; kind < kinds; ++kind) std::copy_n(total[kind], lanes, running[kind]);
  }
  for (; done + lanes <= count; done += lanes) step(done);
  return done;
}

/// The sum of term(first), ..., term(first + count - 1).
///
/// A single running sum would wait several cycles for every addition; sixty-four independent ones fill a few
/// vector registers and keep the adders busy.
template <class Term>
[[gnu::always_inline]] inline real running_sum(size_t first, size_t count, const Term& term) {
  constexpr size_t lanes = 64;
  alignas(64) real running[1][lanes] = {};
  const size_t done = sum_steps(count, running, [&](size_t from) {
#pragma omp simd
    for (size_t lane = 0; lane < lanes; ++lane) running[0][lane] += term(first + from + lane);
  });
#pragma omp simd
  for (size_t lane = 0; lane < count - done; ++lane) running[0][lane] += term(first + done + lane);
  return sum_of_lanes(running[0]);
}

template <class First, class Second>
[[gnu::always_inline]] inline TwoSums two_running_sums(size_t first, size_t count, const First& first_term,
                                                       const Second& second_term) {
  constexpr size_t lanes = 32;
  alignas(64) real running[2][lanes] = {};
  const auto add = [&](size_t from, size_t lane) {
    running[0][lane] += first_term(first + from + lane);
    running[1][lane] += second_term(first + from + lane);
  };
  const size_t done = sum_steps(count, running, [&](size_t from) {
#pragma omp simd
    for (size_t lane = 0; lane < lanes; ++lane) add(from, lane);
  });
#pragma omp simd
  for (size_t lane = 0; lane < count - done; ++lane) add(done, lane);
  return {sum_of_lanes(running[0]), sum_of_lanes(running[1])};
}

/// The sum that block(first, count) gives for a range, in halves until they are short.
template <class Block>
[[gnu::noinline]] auto sum_in_halves(size_t first, size_t count, const Block& block) {
  if (count <= terms_in_sequence) return block(first, count);
  const size_t blocks = (count + terms_in_sequence - 1) / terms_in_sequence;
  const size_t half = (blocks + 1) / 2 * terms_in_sequence;
  const auto upper = sum_in_halves(first, half, block);
  return upper + sum_in_halves(first + half, count - half, block);
}

template <class Term>
[[gnu::noinline]] real long_sum(size_t count, const Term& term) {
  return sum_in_halves(0, count, [&](size_t first, size_t size) { return running_sum(first, size, term); });
}
template <class First, class Second>
[[gnu::noinline]] TwoSums two_long_sums(size_t count, const First& first_term, const Second& second_term) {
  return sum_in_halves(0, count, [&](size_t first, size_t size) {
    return two_running_sums(first, size, first_term, second_term);
  });
}

}  // namespace detail

/// term(0) + term(1) + ... + term(count - 1). The order of additions depends on `count` alone.
template <class Term>
real sum_over(size_t count, const Term& term) {
  if (count > detail::terms_in_sequence) return detail::long_sum(count, term);
  return detail::running_sum(0, detail::unknown(count), term);
}

/// Two such sums in one pass over what they share.
template <class First, class Second>
TwoSums two_sums_over(size_t count, const First& first_term, const Second& second_term) {
  if (count > detail::terms_in_sequence) return detail::two_long_sums(count, first_term, second_term);
  return detail::two_running_sums(0, detail::unknown(count), first_term, second_term);
}

inline constexpr size_t columns_at_once = 256;  // their sums stay in L1

namespace detail {

inline constexpr size_t rows_in_sequence = 64;  // below, a plain loop
inline void add_to(const std::array<real*, 1>& sums, size_t c, real value) { sums[0][c] += value; }
inline void add_to(const std::array<real*, 2>& sums, size_t c, TwoSums value) {
  sums[0][c] += value.first;
  sums[1][c] += value.second;
}

/// sums[.][c] = the sum of row(r)(column + c) over the rows [first, last), for c < width <= columns_at_once.
template <size_t kinds, class Row>
void sum_rows_pairwise(size_t first, size_t last, size_t column, size_t width,
                       const std::array<real*, kinds>& sums, const Row& row) {
  if (last - first > rows_in_sequence) {
    const size_t blocks = (last - first + rows_in_sequence - 1) / rows_in_sequence;
    const size_t middle = first + (blocks + 1) / 2 * rows_in_sequence;
    real memory[kinds][columns_at_once];
    std::array<real*, kinds> below;
    for (size_t kind = 0; kind < kinds; ++kind) below[kind] = memory[kind];
    sum_rows_pairwise(first, middle, column, width, sums, row);
    sum_rows_pairwise(middle, last, column, width, below, row);
    for (size_t kind = 0; kind < kinds; ++kind)
#pragma omp simd
      for (size_t c = 0; c < width; ++c) sums[kind][c] += below[kind][c];
    return;
  }
  for (real* const each : sums) std::fill_n(each, width, real{0});
  size_t r = first;
  // The sums are in memory, and each visit costs more than an addition: four rows at a time.
  for (; r + 4 <= last; r += 4) {
    const auto a = row(r), b = row(r + 1), c = row(r + 2), d = row(r + 3);
#pragma omp simd
    for (size_t i = 0; i < width; ++i)
      add_to(sums, i, (a(column + i) + b(column + i)) + (c(column + i) + d(column + i)));
  }
  for (; r < last; ++r) {
    const auto a = row(r);
#pragma omp simd
    for (size_t i = 0; i < width; ++i) add_to(sums, i, a(column + i));
  }
}

}  // namespace detail

/// sums[c] = row(0)(c) + row(1)(c) + ... + row(rows - 1)(c) for begin <= c < end: columns are summed while
/// their rows are read in storage order. row(r) gives the function of c for one row. Pairwise; the order of
/// additions depends on `rows` alone.
template <class Row>
void column_sums(size_t rows, size_t begin, size_t end, real* sums, const Row& row) {
  for (size_t c = begin; c < end; c += columns_at_once)
    detail::sum_rows_pairwise<1>(0, rows, c, std::min(columns_at_once, end - c), {sums + c}, row);
}

/// The same, accumulated in sums.
template <class Row>
void add_column_sums(size_t rows, size_t begin, size_t end, real* sums, const Row& row) {
  for (size_t c = begin; c < end; c += columns_at_once) {
    const size_t width = std::min(columns_at_once, end - c);
    real found[columns_at_once];
    detail::sum_rows_pairwise<1>(0, rows, c, width, {found}, row);
#pragma omp simd
    for (size_t i = 0; i < width; ++i) sums[c + i] += found[i];
  }
}

/// Two such sums in one pass over what they share: row(r)(c) is a TwoSums.
template <class Row>
void two_column_sums(size_t rows, size_t begin, size_t end, real* first, real* second, const Row& row) {
  for (size_t c = begin; c < end; c += columns_at_once)
    detail::sum_rows_pairwise<2>(0, rows, c, std::min(columns_at_once, end - c), {first + c, second + c},
                                 row);
}

}  // namespace lamina
