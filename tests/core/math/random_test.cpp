#include "core/math/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/error.h"
#include "core/threads/parallel.h"

using namespace lamina;

namespace {

constexpr size_t many = 200'000;

struct Moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};

Moments moments(const std::vector<real>& values) {
  Moments m;
  const auto n = static_cast<double>(values.size());
  for (real value : values) m.mean += value / n;
  for (real value : values) {
    const double d = value - m.mean;
    m.variance += d * d / n;
    m.skewness += d * d * d / n;
    m.kurtosis += d * d * d * d / n;
  }
  m.skewness /= std::pow(m.variance, 1.5);
  m.kurtosis /= m.variance * m.variance;
  return m;
}

std::vector<real> uniforms(Random random, size_t count, real low = 0, real high = 1) {
  std::vector<real> values(count);
  random.fill_uniform(values.data(), count, low, high);
  return values;
}

std::vector<real> normals(Random random, size_t count, real mean = 0, real deviation = 1) {
  std::vector<real> values(count);
  random.fill_normal(values.data(), count, mean, deviation);
  return values;
}

double correlation(const std::vector<real>& a, const std::vector<real>& b) {
  const Moments ma = moments(a), mb = moments(b);
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - ma.mean) * (b[i] - mb.mean);
  return sum / static_cast<double>(a.size()) / std::sqrt(ma.variance * mb.variance);
}

}  // namespace

TEST_CASE("philox: the published known answers") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(philox({ones, ones, ones, ones}, {ones, ones}) ==
        PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random: bits are the Philox blocks of (block number, stream) under the seed") {
  Random random(0x0123456789abcdefULL, 0xfedcba9876543210ULL);
  for (std::uint32_t block = 0; block < 3; ++block) {
    const PhiloxBlock expected = philox({block, 0, 0x76543210, 0xfedcba98}, {0x89abcdef, 0x01234567});
    for (std::uint32_t word : expected) CHECK(random.bits() == word);
  }
}

TEST_CASE("random: a uniform fill gives what single draws give, at every length and past 2^32 blocks") {
  for (size_t count : {0U, 1U, 3U, 4U, 63U, 64U, 65U, 1000U}) {
    Random one_by_one(7, 3);
    one_by_one.restore(
        {7, 3, 4 * ((std::uint64_t{1} << 32) - 5)});  // the block number carries into its upper word
    Random bulk = one_by_one;
    std::vector<real> filled(count + 1, real(-1));
    bulk.fill_uniform(filled.data(), count, 2, 5);
    for (size_t i = 0; i < count; ++i) REQUIRE(filled[i] == doctest::Approx(one_by_one.uniform(2, 5)));
    CHECK(filled[count] == -1);
    CHECK(bulk.state() == one_by_one.state());
  }
}

TEST_CASE("random: fills do not depend on the number of threads, nor on the length of the fill") {
  const int before = threads();
  set_threads(1);
  const auto uniform_alone = uniforms(Random(5), many + 3);
  const auto normal_alone = normals(Random(5), many + 3);
  set_threads(3);
  CHECK(uniforms(Random(5), many + 3) == uniform_alone);
  CHECK(normals(Random(5), many + 3) == normal_alone);
  set_threads(before);
  const auto prefix = normals(Random(5), 77);
  CHECK(std::equal(prefix.begin(), prefix.end(), normal_alone.begin()));
}

TEST_CASE("random: uniform numbers have the moments of their distribution and stay in range") {
  const auto values = uniforms(Random(11), many);
  const Moments m = moments(values);
  CHECK(m.mean == doctest::Approx(0.5).epsilon(0.005));
  CHECK(m.variance == doctest::Approx(1.0 / 12).epsilon(0.01).scale(0));
  CHECK(m.kurtosis == doctest::Approx(1.8).epsilon(0.01));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  CHECK(*least >= 0);
  CHECK(*most < 1);
  const auto shifted = uniforms(Random(11), 1000, -3, -1);
  for (real value : shifted) REQUIRE((value >= -3 && value < -1));
}

TEST_CASE("random: normal numbers have the moments and the tails of their distribution") {
  const auto values = normals(Random(13), many);
  const Moments m = moments(values);
  CHECK(std::abs(m.mean) < 0.01);
  CHECK(m.variance == doctest::Approx(1).epsilon(0.015));
  CHECK(std::abs(m.skewness) < 0.03);
  CHECK(m.kurtosis == doctest::Approx(3).epsilon(0.03));
  for (double bound : {0.5, 1.0, 2.0, 3.0}) {
    const auto outside =
        std::count_if(values.begin(), values.end(), [&](real v) { return std::abs(v) > bound; });
    const double expected = std::erfc(bound / std::sqrt(2.0)) * many;
    CHECK(std::abs(static_cast<double>(outside) - expected) < 5 * std::sqrt(expected));
  }
  // The two numbers of a Box-Muller pair must be independent.
  std::vector<real> even, odd;
  for (size_t i = 0; i < many; i += 2) even.push_back(values[i]), odd.push_back(values[i + 1]);
  CHECK(std::abs(correlation(even, odd)) < 0.015);
  const Moments moved = moments(normals(Random(13), many, -2, real(0.5)));
  CHECK(moved.mean == doctest::Approx(-2).epsilon(0.01));
  CHECK(moved.variance == doctest::Approx(0.25).epsilon(0.02));
}

TEST_CASE("random: the Box-Muller series agree with the C library") {
  Random random(17);
  const auto values = normals(random, 1000);
  for (size_t i = 0; i < values.size(); i += 2) {
    const double first = random.uniform(), second = random.uniform();
    const double radius = std::sqrt(-2 * std::log1p(-first)), angle = 2 * std::acos(-1.0) * second;
    const double tolerance = sizeof(real) == 4 ? 3e-6 : 1e-14;
    REQUIRE(std::abs(values[i] - radius * std::cos(angle)) < tolerance);
    REQUIRE(std::abs(values[i + 1] - radius * std::sin(angle)) < tolerance);
  }
}

TEST_CASE("random: single normal draws are normal") {
  Random random(19);
  std::vector<real> values(20'000);
  for (real& value : values) value = random.normal();
  const Moments m = moments(values);
  CHECK(std::abs(m.mean) < 0.03);
  CHECK(m.variance == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE("random: below is uniform, also where 2^32 is far from a multiple") {
  Random random(23);
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (int count : counts) CHECK(std::abs(count - 10'000) < 500);
  // With n = 3 * 2^30 a plain modulo would make the lowest third twice as likely.
  constexpr std::uint32_t third = std::uint32_t{1} << 30;
  int low = 0;
  for (int i = 0; i < 30'000; ++i) low += random.below(3 * third) < third;
  CHECK(std::abs(low - 10'000) < 500);
  CHECK(random.below(1) == 0);
  CHECK_THROWS_AS(random.below(0), Error);
}

TEST_CASE("random: permutations are valid and every order is equally likely") {
  Random random(29);
  CHECK(random.permutation(0).empty());
  auto order = random.permutation(1000);
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int i = 0; i < 1000; ++i) REQUIRE(order[static_cast<size_t>(i)] == i);
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 24'000; ++i) ++seen[random.permutation(4)];
  CHECK(seen.size() == 24);
  for (const auto& [_, count] : seen) CHECK(std::abs(count - 1000) < 160);  // five deviations
}

TEST_CASE("random: the state is all there is") {
  Random random(31, 2);
  for (int drawn = 0; drawn < 9; ++drawn) {  // from every position within a block
    const Random::State saved = random.state();
    Random resumed(0);
    resumed.bits();
    resumed.restore(saved);
    for (int i = 0; i < 6; ++i) REQUIRE(resumed.bits() == random.bits());
    CHECK(resumed.normal() == random.normal());
    CHECK(resumed.permutation(20) == random.permutation(20));
    CHECK(normals(resumed, 20) == normals(random, 20));
    random.restore(saved);
    random.bits();
  }
}

TEST_CASE("random: splits depend on the generator and the number, not on what was drawn") {
  Random random(37);
  Random early = random.split(1);
  random.bits();
  Random late = random.split(1);
  CHECK(early.state() == late.state());
  CHECK(random.split(1).state() != random.split(2).state());
  CHECK(random.split(1).split(2).state() != random.split(2).split(1).state());
  CHECK(Random(37).split(1).state() != Random(38).split(1).state());
  CHECK(std::abs(correlation(uniforms(Random(37), many), uniforms(random.split(1), many))) < 0.01);
  CHECK(std::abs(correlation(uniforms(Random(37, 0), many), uniforms(Random(37, 1), many))) < 0.01);
}
