#pragma once
// How surely a mean is known from few numbers: an interval at 96% and one at 95%, and a test of how many runs diverged.

#include <cstddef>
#include <cstdint>
#include <span>

namespace lamina {

struct Interval {
  double low = 0, high = 0;
};

struct Moments {
  std::size_t count = 0;
  double mean = 0, deviation = 0;  ///< with count - 1; 0 for one number
};
Moments moments_of(std::span<const double> numbers);

/// The middle one, or the mean of the two middle ones. Not a number when there are none.
double median_of(std::span<const double> numbers);

/// The t that |t| of Student's distribution exceeds with probability 1 - confidence. `freedom` from 1.
double student_t(std::size_t freedom, double confidence);

/// How sure a verdict is: two equal distributions are called different in one study of 25. An interval at 95% would do so
/// in one of 20 exactly, and that only where numbers are normal, which nobody can see in five of them.
inline constexpr double verdict_confidence = 0.96;

/// Student's interval of the mean, mean +- t s / sqrt(n), which is right for normal numbers at any n from 2. For numbers
/// with longer tails on both sides, as differences of two equal distributions have, it is too wide rather than too narrow.
Interval student_interval(const Moments& moments, double confidence = verdict_confidence);

/// Efron's percentile bootstrap of the mean at 95%: the middle of the means of 10,000 samples drawn with replacement. With
/// five numbers it is too narrow, so that it is shown and does not decide: it misses the mean of normal numbers in one
/// case of six, not in one of twenty (tests/models/evidence/interval_test.cpp).
Interval bootstrap_interval(std::span<const double> numbers, std::uint64_t seed = 1);

/// Fisher's exact test, two-sided: the probability of a table at least as unlikely as `a` of `n` here and `b` of `m` there
/// where both have the same chance.
double fisher_probability(std::size_t a, std::size_t n, std::size_t b, std::size_t m);

}  // namespace lamina
