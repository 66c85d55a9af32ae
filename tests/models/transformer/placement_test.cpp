// The theory of where the normalization stands: what one model shows against the formulas.

#include "models/transformer/placement.h"

#include <cmath>

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::transformer;

namespace {

const PlacementCase& case_named(const std::string& name) {
  return *std::ranges::find_if(placement_cases, [&](const PlacementCase& each) { return each.name == name; });
}

/// The mean over seeds.
Stream mean_of_seeds(StreamOptions options, size_t seeds) {
  Stream mean;
  const auto add = [&](std::vector<double>& to, const std::vector<double>& from) {
    to.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) to[i] += from[i] / static_cast<double>(seeds);
  };
  for (options.seed = 1; options.seed <= seeds; ++options.seed) {
    const Stream stream = observe(options);
    add(mean.after_attention, stream.after_attention);
    add(mean.after_block, stream.after_block);
    add(mean.gradient, stream.gradient);
  }
  return mean;
}

doctest::Approx near(double expected, double share) { return doctest::Approx(expected).epsilon(share); }

}  // namespace

TEST_CASE("placement: the mean field has the formulas of Xiong et al.") {
  const StreamOptions post{.how = case_named("post"), .depth = 12};
  for (const double length : mean_field(post).after_block) CHECK(length == near(1.5, 1e-12));
  StreamOptions pre{.how = case_named("pre"), .depth = 12};
  for (const size_t tokens : {size_t{1}, size_t{16}, size_t{100000}}) {
    pre.tokens = tokens;
    const Stream stream = mean_field(pre);
    for (size_t l = 1; l <= 12; ++l) {
      CHECK(stream.after_block[l - 1] >= 1 + 0.5 * static_cast<double>(l) - 1e-9);
      CHECK(stream.after_block[l - 1] <= 1 + 1.5 * static_cast<double>(l) + 1e-9);
    }
  }
  // One position attends to itself alone: attention adds as much as it may.
  pre.tokens = 1;
  CHECK(mean_field(pre).after_block.back() == near(1 + 1.5 * 12, 1e-12));
}

TEST_CASE("placement: the mean field of the others") {
  const auto last = [](const char* name, size_t tokens) {
    return mean_field({.how = case_named(name), .depth = 10, .tokens = tokens}).after_block.back();
  };
  CHECK(last("sandwich", 16) == near(21, 1e-12));  // 1 + 2 L
  CHECK(last("none", 1) == near(std::pow(3, 10), 1e-12));
  double harmonic = 0;
  for (int l = 1; l <= 10; ++l) harmonic += 1.0 / l;
  CHECK(last("scaled-pre", 1) == near(1 + 1.5 * harmonic, 1e-12));
  // The gradient of the last block neither sees the depth under post-LN, nor loses it under the others.
  const auto gradient = [](const char* name, size_t depth) {
    return mean_field({.how = case_named(name), .depth = depth, .width = 300, .tokens = 1}).gradient.back();
  };
  CHECK(gradient("post", 2) == near(10, 1e-12));  // sqrt(d / 3)
  CHECK(gradient("post", 40) == near(10, 1e-12));
  CHECK(gradient("pre", 6) == near(std::sqrt(150 / (1 + 1.5 * 6)), 1e-12));
  CHECK(gradient("sandwich", 6) == near(std::sqrt(300 / 13.0), 1e-12));
}

TEST_CASE("placement: models follow the mean field, stream and last gradient") {
  for (const PlacementCase& how : placement_cases) {
    CAPTURE(std::string(how.name));
    const StreamOptions options{.how = how, .depth = 6, .width = 96, .tokens = 8};
    const Stream seen = mean_of_seeds(options, 8), formula = mean_field(options);
    REQUIRE(seen.after_block.size() == 6);
    for (size_t l = 0; l < 6; ++l) {
      CHECK(seen.after_attention[l] == near(formula.after_attention[l], 0.2));
      CHECK(seen.after_block[l] == near(formula.after_block[l], 0.2));
    }
    CHECK(seen.gradient.back() == near(formula.gradient.back(), 0.2));
  }
}

TEST_CASE(
    "placement: what a block adds to pre-LN's stream does not depend on the block, under post-LN it is taken "
    "away") {
  const Stream pre = mean_of_seeds({.how = case_named("pre"), .depth = 16, .width = 96, .tokens = 8}, 4);
  const double early = pre.after_block[7] - pre.after_block[3],
               late = pre.after_block[15] - pre.after_block[11];
  CHECK(early / 4 > 0.5);
  CHECK(late / 4 < 1.5 * 1.3);  // the upper bound, and room for a narrow model
  CHECK(late / early < 2);
  const Stream post = mean_of_seeds({.how = case_named("post"), .depth = 16, .width = 96, .tokens = 8}, 4);
  CHECK(post.after_block.back() == near(1.5, 0.2));
}

TEST_CASE("placement: the exponent of a power") {
  const std::vector<double> x{2, 4, 8, 48},
      y{3 / std::sqrt(2), 3 / std::sqrt(4), 3 / std::sqrt(8), 3 / std::sqrt(48)};
  CHECK(fitted_exponent(x, y) == near(-0.5, 1e-9));
  CHECK_ERROR(fitted_exponent({}, {}),
              "fitted exponent: 0 and 0 numbers; give as many of both, at least two");
}
