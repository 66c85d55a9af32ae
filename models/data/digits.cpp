#include "models/data/digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/math/random.h"
#include "core/threads/parallel.h"
#include "models/data/digit_strokes.h"

namespace lamina {

namespace {

// The irregularity of the handwriting: deviations of normal distributions. Calibrated so that a
// 784-1000-1000-10 ReLU network, trained by Adam (1e-3, batch 128) on 55,000 digits, errs on 2.2% of new ones
// after ten epochs: close enough to MNIST to be instructive.
constexpr float carelessness_spread = 0.35F;  // log; multiplies the four below, image by image
constexpr float most_careless = 2;            // beyond this a person cannot read it either
constexpr float shake = 0.03F;                // of each control point, in digit heights
constexpr float bend = 0.022F;                // amplitude of each wave, in digit heights
constexpr float turn = 0.11F;                 // radians
constexpr float slant = 0.18F;                // shear
constexpr float width_spread = 0.16F, height_spread = 0.07F;  // log
constexpr float shift = 0.7F;                                 // pixels
constexpr float pen_radius = 1.15F, pen_spread = 0.22F;       // pixels; log
constexpr float pressure_spread = 0.15F;                      // log, between the ends of a stroke
constexpr float digit_height = 18.5F;                         // pixels
constexpr float paper_noise = 0.12F;                          // the maximum; each image has its own

constexpr int steps_per_span = 5;  // straight pieces between two control points

using Point = CurvePoint;

float normal(Random& random, float deviation) { return deviation * static_cast<float>(random.normal()); }

float uniform(Random& random, float low, float high) {
  return low + (high - low) * static_cast<float>(random.uniform());
}

// Bends the paper smoothly: each wave pushes points sideways by a sine of their position.
class Bend {
 public:
  Bend(Random& random, float amplitude) {
    for (Wave& wave : waves_) {
      const float angle = uniform(random, 0, 2 * std::numbers::pi_v<float>);
      const float frequency =
          uniform(random, 3, 8);  // radians per digit height: half a wave to a bit over one
      wave = {{frequency * std::cos(angle), frequency * std::sin(angle)},
              uniform(random, 0, 2 * std::numbers::pi_v<float>),
              {normal(random, amplitude), normal(random, amplitude)}};
    }
  }

  Point operator()(Point p) const {
    Point moved = p;
    for (const Wave& wave : waves_) {
      const float push = std::sin(wave.frequency.x * p.x + wave.frequency.y * p.y + wave.phase);
      moved.x += wave.amplitude.x * push;
      moved.y += wave.amplitude.y * push;
    }
    return moved;
  }

 private:
  struct Wave {
    Point frequency;
    float phase;
    Point amplitude;
  };
  std::array<Wave, 4> waves_;
};

// Scales, slants and turns the digit, and puts it near the middle of the image. Units become pixels.
class Placement {
 public:
  Placement(Random& random, float carelessness) {
    const float width = digit_height * std::exp(normal(random, width_spread));
    const float height = digit_height * std::exp(normal(random, height_spread));
    const float shear = normal(random, slant * carelessness), angle = normal(random, turn * carelessness);
    const float c = std::cos(angle), s = std::sin(angle);
    xx_ = c * width, xy_ = -c * width * shear - s * height;
    yx_ = s * width, yy_ = -s * width * shear + c * height;
    center_ = {digit_side / 2.0F + normal(random, shift), digit_side / 2.0F + normal(random, shift)};
  }

  Point operator()(Point p) const {
    return {center_.x + xx_ * p.x + xy_ * p.y, center_.y + yx_ * p.x + yy_ * p.y};
  }

 private:
  float xx_, xy_, yx_, yy_;
  Point center_;
};

// A sheet of 28 x 28 pixels that remembers how far each pixel's centre is from the nearest edge of the ink.
class Sheet {
 public:
  Sheet() { distance_.fill(far); }

  /// Draws a straight piece whose pen radius changes from `radius_a` to `radius_b`.
  void line(Point a, Point b, float radius_a, float radius_b) {
    const float reach = std::max(radius_a, radius_b) + 1.5F;
    const size_t top = row(std::min(a.y, b.y) - reach), bottom = row(std::max(a.y, b.y) + reach + 1);
    const float dx = b.x - a.x, dy = b.y - a.y;
    const float inverse_square = 1 / std::max(dx * dx + dy * dy, 1e-6F);
    for (size_t y = top; y < bottom; ++y) {
      const float py = static_cast<float>(y) + 0.5F - a.y;
      float* distance = &distance_[y * stride];
#pragma omp simd
      for (size_t x = 0; x < stride; ++x) {
        const float px = static_cast<float>(static_cast<int>(x)) + 0.5F - a.x;
        // Not std::clamp and std::min: they return references, which prevent vectorization.
        float along = (px * dx + py * dy) * inverse_square;
        along = along < 0 ? 0 : along;
        along = along > 1 ? 1 : along;
        const float ex = px - along * dx, ey = py - along * dy;
        const float edge = std::sqrt(ex * ex + ey * ey) - (radius_a + along * (radius_b - radius_a));
        distance[x] = edge < distance[x] ? edge : distance[x];
      }
    }
  }

  /// The part of each pixel that is covered: the edge is blurred over `softness` pixels.
  void develop(float ink, float softness, const real* noise, float* pixels) const {
    for (size_t y = 0; y < digit_side; ++y) {
      for (size_t x = 0; x < digit_side; ++x) {
        const float covered = std::clamp(0.5F - distance_[y * stride + x] / softness, 0.0F, 1.0F);
        const float noisy = ink * covered + static_cast<float>(noise[y * digit_side + x]);
        pixels[y * digit_side + x] = std::clamp(noisy, 0.0F, 1.0F);
      }
    }
  }

 private:
  static constexpr size_t stride = 32;  // rows padded to whole vectors
  static constexpr float far = 1e3F;

  static size_t row(float y) {
    return static_cast<size_t>(std::clamp(y, 0.0F, static_cast<float>(digit_side)));
  }

  alignas(64) std::array<float, digit_side * stride> distance_;
};

void draw_stroke(Sheet& sheet, const Stroke& stroke, const Bend& bent, const Placement& placed,
                 float radius_begin, float radius_end) {
  const size_t spans = stroke.size() - 1;
  const float share = 1 / static_cast<float>(spans * steps_per_span);
  Point last = placed(bent({stroke[0].x, stroke[0].y}));
  float last_radius = radius_begin;
  for (size_t i = 1; i <= spans * steps_per_span; ++i) {
    const size_t span = (i - 1) / steps_per_span;
    const float t = static_cast<float>(i - span * steps_per_span) / steps_per_span;
    const Point next = placed(bent(curve_at(stroke, span, t)));
    const float radius = radius_begin + (radius_end - radius_begin) * share * static_cast<float>(i);
    sheet.line(last, next, last_radius, radius);
    last = next;
    last_radius = radius;
  }
}

/// Draws one image and returns its label.
int draw_digit(Random random, float* pixels) {
  const int digit = static_cast<int>(random.below(10));
  const auto& variants = glyphs_of(digit);
  Glyph glyph = variants[random.below(static_cast<std::uint32_t>(variants.size()))];

  const float carelessness = std::min(std::exp(normal(random, carelessness_spread)), most_careless);
  const Bend bent(random, bend * carelessness);
  const Placement placed(random, carelessness);
  const float radius = pen_radius * std::exp(normal(random, pen_spread));
  Sheet sheet;
  for (Stroke& stroke : glyph) {
    for (StrokePoint& point : stroke) {
      point.x += normal(random, shake * carelessness);
      point.y += normal(random, shake * carelessness);
    }
    const float begin = radius * std::exp(normal(random, pressure_spread));
    const float end = radius * std::exp(normal(random, pressure_spread));
    draw_stroke(sheet, stroke, bent, placed, begin, end);
  }

  const float ink = uniform(random, 0.75F, 1), softness = uniform(random, 1, 1.6F);
  std::array<real, digit_pixels> noise;
  random.fill_normal(noise.data(), noise.size(), 0, uniform(random, 0, paper_noise));
  sheet.develop(ink, softness, noise.data(), pixels);
  return digit;
}

}  // namespace

Digits draw_digits(size_t count, std::uint64_t seed, std::uint64_t first_index) {
  Digits digits;
  digits.pixels.resize(count * digit_pixels);
  digits.labels.resize(count);
  constexpr size_t grain = 16;  // an image takes some ten microseconds
  parallel_for(count, grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      digits.labels[i] = draw_digit(Random(seed, first_index + i), &digits.pixels[i * digit_pixels]);
    }
  });
  return digits;
}

}  // namespace lamina
