#include "models/evidence/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/math/random.h"

namespace lamina {

namespace {

constexpr std::size_t samples = 10'000;

/// P(|T| < t) for whole degrees of freedom: a finite sum in the angle atan(t / sqrt(freedom)), Abramowitz and Stegun
/// (26.7.3) and (26.7.4).
double within(double t, std::size_t freedom) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(freedom)));
  const double cosine = std::cos(angle), squared = cosine * cosine;
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (std::size_t k = odd ? 1 : 0; k + 2 <= freedom; k += 2) {
    sum += term;
    term *= squared * static_cast<double>(k + 1) / static_cast<double>(k + 2);
  }
  return odd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

double log_choices(std::size_t from, std::size_t taken) {
  const auto log_factorial = [](std::size_t n) { return std::lgamma(static_cast<double>(n) + 1); };
  return log_factorial(from) - log_factorial(taken) - log_factorial(from - taken);
}

}  // namespace

Moments moments_of(std::span<const double> numbers) {
  Moments moments{.count = numbers.size()};
  if (numbers.empty()) return moments;
  for (const double number : numbers) moments.mean += number;
  moments.mean /= static_cast<double>(moments.count);
  if (moments.count < 2) return moments;
  double squares = 0;
  for (const double number : numbers) squares += (number - moments.mean) * (number - moments.mean);
  moments.deviation = std::sqrt(squares / static_cast<double>(moments.count - 1));
  return moments;
}

double median_of(std::span<const double> numbers) {
  if (numbers.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double student_t(std::size_t freedom, double confidence) {
  double low = 0, high = 1e6;
  for (int halving = 0; halving < 80; ++halving) {
    const double middle = (low + high) / 2;
    (within(middle, freedom) < confidence ? low : high) = middle;
  }
  return (low + high) / 2;
}

Interval student_interval(const Moments& moments, double confidence) {
  const double reach = student_t(moments.count - 1, confidence) * moments.deviation /
                       std::sqrt(static_cast<double>(moments.count));
  return {moments.mean - reach, moments.mean + reach};
}

Interval bootstrap_interval(std::span<const double> numbers, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> means(samples);
  for (double& mean : means) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      mean += numbers[random.below(static_cast<std::uint32_t>(numbers.size()))];
    mean /= static_cast<double>(numbers.size());
  }
  std::ranges::sort(means);
  constexpr std::size_t tail = samples / 40;
  return {means[tail], means[samples - 1 - tail]};
}

double fisher_probability(std::size_t a, std::size_t n, std::size_t b, std::size_t m) {
  const std::size_t both = a + b;
  const auto chance = [&](std::size_t here) {
    return std::exp(log_choices(n, here) + log_choices(m, both - here) - log_choices(n + m, both));
  };
  constexpr double rounding = 1 + 1e-9;
  const double seen = chance(a) * rounding;
  double sum = 0;
  for (std::size_t here = both > m ? both - m : 0; here <= std::min(n, both); ++here)
    if (chance(here) <= seen) sum += chance(here);
  return std::min(sum, 1.0);
}

}  // namespace lamina
