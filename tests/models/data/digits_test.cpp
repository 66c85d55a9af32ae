#include "models/data/digits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/threads/parallel.h"
#include "models/data/digit_strokes.h"

using namespace lamina;

namespace {

// The mean image of each class.
std::array<std::vector<double>, 10> class_means(const Digits& digits) {
  std::array<std::vector<double>, 10> means;
  std::array<double, 10> counts{};
  means.fill(std::vector<double>(digit_pixels));
  for (size_t i = 0; i < digits.labels.size(); ++i) {
    const auto label = static_cast<size_t>(digits.labels[i]);
    ++counts[label];
    for (size_t p = 0; p < digit_pixels; ++p) means[label][p] += digits.pixels[i * digit_pixels + p];
  }
  for (size_t label = 0; label < 10; ++label) {
    for (double& pixel : means[label]) pixel /= counts[label];
  }
  return means;
}

size_t nearest(const std::array<std::vector<double>, 10>& means, const float* pixels) {
  std::array<double, 10> distances{};
  for (size_t label = 0; label < 10; ++label) {
    for (size_t p = 0; p < digit_pixels; ++p) distances[label] += std::pow(means[label][p] - pixels[p], 2);
  }
  return static_cast<size_t>(std::min_element(distances.begin(), distances.end()) - distances.begin());
}

}  // namespace

TEST_CASE("digits: every digit has variants, and every stroke is at least a line inside the box") {
  for (int digit = 0; digit < 10; ++digit) {
    CHECK(glyphs_of(digit).size() >= 3);
    for (const Glyph& glyph : glyphs_of(digit)) {
      REQUIRE_FALSE(glyph.empty());
      for (const Stroke& stroke : glyph) {
        REQUIRE(stroke.size() >= 2);
        for (const StrokePoint& point : stroke)
          REQUIRE((std::abs(point.x) <= 0.3F && std::abs(point.y) <= 0.5F));
      }
    }
  }
}

TEST_CASE("digits: pixels are in [0, 1], the ink is in the middle, classes are balanced") {
  constexpr size_t count = 2000;
  const Digits digits = draw_digits(count, 1);
  REQUIRE(digits.pixels.size() == count * digit_pixels);
  REQUIRE(digits.labels.size() == count);
  CHECK(std::all_of(digits.pixels.begin(), digits.pixels.end(), [](float p) { return p >= 0 && p <= 1; }));
  for (int digit = 0; digit < 10; ++digit) {
    const auto of_class = std::count(digits.labels.begin(), digits.labels.end(), digit);
    CHECK(std::abs(static_cast<double>(of_class) - count / 10.0) < 70);  // five deviations
  }
  double middle = 0, border = 0;
  for (size_t i = 0; i < digits.pixels.size(); ++i) {
    const size_t row = i % digit_pixels / digit_side, column = i % digit_side;
    const bool inside = row >= 4 && row < 24 && column >= 4 && column < 24;
    (inside ? middle : border) += digits.pixels[i];
  }
  CHECK(middle > 5 * border);
}

TEST_CASE("digits: an image depends on the seed and its index alone") {
  const int before = threads();
  set_threads(1);
  const Digits alone = draw_digits(100, 3);
  set_threads(3);
  const Digits together = draw_digits(100, 3);
  const Digits part = draw_digits(40, 3, 60);
  set_threads(before);
  CHECK(together.pixels == alone.pixels);
  CHECK(together.labels == alone.labels);
  CHECK(std::equal(part.pixels.begin(), part.pixels.end(), alone.pixels.begin() + 60 * digit_pixels));
  CHECK(draw_digits(100, 4).pixels != alone.pixels);
  CHECK(draw_digits(0, 1).labels.empty());
}

TEST_CASE("digits: they can be told apart, but not by a template") {
  const auto means = class_means(draw_digits(3000, 5));
  const Digits fresh = draw_digits(1000, 6);
  int wrong = 0;
  for (size_t i = 0; i < fresh.labels.size(); ++i) {
    wrong += nearest(means, &fresh.pixels[i * digit_pixels]) != static_cast<size_t>(fresh.labels[i]);
  }
  CHECK(wrong < 400);
  CHECK(wrong > 100);  // MNIST's figure for the nearest class mean is 18%
}
