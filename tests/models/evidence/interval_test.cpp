#include "models/evidence/interval.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "core/math/random.h"

using namespace lamina;

namespace {

/// How often an interval of five numbers misses the mean of their distribution, 0.
template <class Draw, class Make>
double misses(size_t trials, const Draw& draw, const Make& interval_of) {
  Random random(7);
  size_t missed = 0;
  for (size_t trial = 0; trial < trials; ++trial) {
    std::array<double, 5> numbers;
    for (double& number : numbers) number = draw(random);
    const Interval interval = interval_of(numbers);
    missed += interval.low > 0 || interval.high < 0;
  }
  return static_cast<double>(missed) / static_cast<double>(trials);
}

double normal_number(Random& random) { return static_cast<double>(random.normal()); }
/// An exponential distribution less another: long tails on both sides, as differences of skewed numbers have.
double double_exponential(Random& random) {
  const auto exponential = [&] { return -std::log(1 - static_cast<double>(random.uniform())); };
  return exponential() - exponential();
}

Interval student(std::span<const double> numbers) { return student_interval(moments_of(numbers), 0.95); }
Interval bootstrap(std::span<const double> numbers) { return bootstrap_interval(numbers); }

}  // namespace

TEST_CASE("interval: moments and medians") {
  const std::vector<double> numbers{1, 4, 2, 3};
  CHECK(moments_of(numbers).mean == 2.5);
  CHECK(moments_of(numbers).deviation == doctest::Approx(std::sqrt(5.0 / 3)));
  CHECK(median_of(numbers) == 2.5);
  CHECK(median_of(std::vector<double>{5, 1, 3}) == 3);
  CHECK(std::isnan(median_of({})));
  CHECK(moments_of(std::vector<double>{7}).deviation == 0);
}

TEST_CASE("interval: Student's t as in printed tables") {
  CHECK(student_t(1, 0.95) == doctest::Approx(12.7062).epsilon(1e-5));
  CHECK(student_t(2, 0.95) == doctest::Approx(4.30265).epsilon(1e-5));
  CHECK(student_t(3, 0.95) == doctest::Approx(3.18245).epsilon(1e-5));
  CHECK(student_t(4, 0.95) == doctest::Approx(2.77645).epsilon(1e-5));
  CHECK(student_t(9, 0.95) == doctest::Approx(2.26216).epsilon(1e-5));
  CHECK(student_t(30, 0.95) == doctest::Approx(2.04227).epsilon(1e-5));
  CHECK(student_t(1000, 0.95) == doctest::Approx(1.96234).epsilon(1e-5));
}

TEST_CASE("interval: one number more or less sure") {
  CHECK(student_t(4, 0.96) == doctest::Approx(2.99853).epsilon(1e-5));
  CHECK(student_t(1, 0.999) == doctest::Approx(636.619).epsilon(1e-5));
}

TEST_CASE("interval: Student's misses the mean of five normal numbers in one case of twenty") {
  CHECK(misses(40'000, normal_number, student) == doctest::Approx(0.05).epsilon(0.07).scale(0));
}

TEST_CASE("interval: judged again after each number from the third to the eighth, 12 of 100 miss and not 4") {
  Random random(7);
  constexpr int trials = 20'000;
  int once = 0, at_some_time = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::array<double, 8> numbers;
    for (double& number : numbers) number = normal_number(random);
    bool missed = false, ever = false;
    for (size_t count = 3; count <= numbers.size(); ++count) {
      const Interval interval = student_interval(moments_of(std::span(numbers).first(count)), 0.96);
      missed = interval.low > 0 || interval.high < 0;
      ever = ever || missed;
    }
    once += missed;
    at_some_time += ever;
  }
  CHECK(once == doctest::Approx(0.04 * trials).epsilon(0.1).scale(0));
  CHECK(at_some_time == doctest::Approx(0.121 * trials).epsilon(0.07).scale(0));
}

TEST_CASE("interval: Student's misses less often where tails are long on both sides") {
  CHECK(misses(40'000, double_exponential, student) < 0.045);
}

TEST_CASE("interval: the percentile bootstrap of five numbers is too narrow to decide" *
          doctest::test_suite("slow")) {
  CHECK(misses(1'000, normal_number, bootstrap) == doctest::Approx(0.165).epsilon(0.2).scale(0));
}

TEST_CASE("interval: the bootstrap is the same each time and lies within the numbers") {
  const std::vector<double> numbers{0.1, 0.4, 0.2, 0.9, 0.3};
  const Interval interval = bootstrap(numbers);
  CHECK(interval.low == bootstrap(numbers).low);
  CHECK(interval.high == bootstrap(numbers).high);
  CHECK(interval.low > 0.1);
  CHECK(interval.low < 0.38);
  CHECK(interval.high > 0.38);
  CHECK(interval.high < 0.9);
}

TEST_CASE("interval: the bootstrap of many numbers reaches as far as Student's") {
  std::vector<double> numbers;
  for (int i = 0; i < 100; ++i) numbers.push_back(i);
  CHECK(std::fabs(bootstrap(numbers).low - student(numbers).low) < 0.4);  // 5.8 below the mean
  CHECK(std::fabs(bootstrap(numbers).high - student(numbers).high) < 0.4);
}

TEST_CASE("interval: Fisher's exact test as counted by hand") {
  CHECK(fisher_probability(0, 5, 5, 5) == doctest::Approx(2.0 / 252));
  CHECK(fisher_probability(1, 5, 5, 5) == doctest::Approx(2 * 5.0 / 210));
  CHECK(fisher_probability(3, 3, 0, 3) == doctest::Approx(2.0 / 20));
  CHECK(fisher_probability(0, 4, 0, 4) == doctest::Approx(1));
  CHECK(fisher_probability(2, 4, 2, 4) == doctest::Approx(1));
}
