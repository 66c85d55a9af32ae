#include "models/data/pen.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/data/letter_strokes.h"

namespace lamina {

namespace {

float normal(Random& random, float mean, float deviation) {
  return mean + deviation * static_cast<float>(random.normal());
}

float uniform(Random& random, float low, float high) {
  return low + (high - low) * static_cast<float>(random.uniform());
}

bool is_small(char c) { return c >= 'a' && c <= 'z'; }

/// The letters of a line side by side, as control points.
class Line {
 public:
  Line(const Hand& hand, Random& random) : hand_(hand), random_(random) {}

  void write(const std::string& text) {
    for (const char c : text) {
      const std::vector<Letter>& ways = letters_of(c);
      if (!ways.empty()) {
        Random own = Random(hand_.ways).split(static_cast<std::uint64_t>(c));
        put(ways[own.below(static_cast<std::uint32_t>(ways.size()))], is_small(c));
      } else if (c == ' ') {
        x_ += hand_.word_space * normal(random_, 1, 0.15F);
        open_ = false;
      }
    }
  }

  std::vector<Stroke> take() { return std::move(strokes_); }

 private:
  void put(const Letter& letter, bool small) {
    const float scale = normal(random_, 1, 0.04F), shear = hand_.slant + normal(random_, 0, 0.03F);
    bool join = open_ && small;
    for (const Stroke& stroke : letter.glyph) {
      if (!join) strokes_.emplace_back();
      join = false;
      for (const StrokePoint& point : stroke) strokes_.back().push_back(place(point, scale, shear, small));
    }
    open_ = hand_.joins && small && letter.joins;
    x_ += letter.width * hand_.width + hand_.letter_space * normal(random_, 1, 0.2F);
  }

  StrokePoint place(StrokePoint p, float scale, float shear, bool small) {
    p.x = scale * hand_.width * p.x + normal(random_, 0, hand_.shake);
    p.y = scale * p.y + normal(random_, 0, hand_.shake);
    const float lean = shear * p.y + hand_.bow * p.y * (1.9F - p.y);
    const float x = x_ + p.x + lean, line = hand_.slope * x_ + hand_.wave * std::sin(0.35F * x_);
    return {x * hand_.size, -(p.y + line) * hand_.size, p.corner && !(hand_.rounds && small)};
  }

  const Hand& hand_;
  Random& random_;
  float x_ = 0;
  bool open_ = false;  ///< the next small letter continues the stroke
  std::vector<Stroke> strokes_;
};

/// A stroke as short straight pieces, and when the pen passes them.
class Travel {
 public:
  Travel(const Stroke& stroke, const Hand& hand) {
    constexpr int pieces = 10;
    path_.push_back({stroke[0].x, stroke[0].y});
    for (std::size_t span = 0; span + 1 < stroke.size(); ++span)
      for (int i = 1; i <= pieces; ++i)
        path_.push_back(curve_at(stroke, span, static_cast<float>(i) / pieces));
    measure(hand);
  }

  float duration() const { return time_.back(); }

  CurvePoint at(float moment) const {
    const auto after = std::upper_bound(time_.begin() + 1, time_.end() - 1, moment);
    const auto i = static_cast<std::size_t>(after - time_.begin());
    const float part = std::clamp((moment - time_[i - 1]) / (time_[i] - time_[i - 1]), 0.0F, 1.0F);
    return {path_[i - 1].x + part * (path_[i].x - path_[i - 1].x),
            path_[i - 1].y + part * (path_[i].y - path_[i - 1].y)};
  }

 private:
  void measure(const Hand& hand) {
    const auto length = [&](std::size_t i) {  // of the piece that ends at point i
      return std::hypot(path_[i].x - path_[i - 1].x, path_[i].y - path_[i - 1].y) + 1e-6F;
    };
    float whole = 0;
    for (std::size_t i = 1; i < path_.size(); ++i) whole += length(i);
    time_.assign(path_.size(), 0);
    float done = 0;
    for (std::size_t i = 1; i < path_.size(); ++i) {
      const float piece = length(i), middle = done + piece / 2;
      const float radius = piece / (turn(i) + 1e-3F) / hand.size;
      const float bend = std::cbrt(radius / (radius + 0.6F));
      const float end = std::min(middle, whole - middle) / hand.size;  // nearest end of the stroke
      const float ramp = std::min(1.0F, 0.45F + end);
      time_[i] = time_[i - 1] + piece / (hand.speed * hand.size * std::max(bend, 0.4F) * ramp);
      done += piece;
    }
  }

  /// By how much the path turns over the piece that ends at point i, in radians.
  float turn(std::size_t i) const {
    const auto direction = [&](std::size_t k) {
      return std::atan2(path_[k].y - path_[k - 1].y, path_[k].x - path_[k - 1].x);
    };
    if (i + 1 >= path_.size()) return 0;
    const float change = std::fabs(direction(i + 1) - direction(i));
    return std::min(change, 2 * std::numbers::pi_v<float> - change);
  }

  std::vector<CurvePoint> path_;
  std::vector<float> time_;
};

}  // namespace

Hand draw_hand(std::uint64_t seed, std::uint64_t number) {
  Random random = Random(seed, 0x68616e64).split(number);
  Hand hand{};
  hand.slant = std::clamp(normal(random, 0.18F, 0.2F), -0.25F, 0.65F);
  hand.width = std::exp(normal(random, 0, 0.12F));
  hand.size = std::exp(normal(random, 0, 0.12F));
  hand.letter_space = uniform(random, 0.05F, 0.35F);
  hand.word_space = uniform(random, 0.7F, 1.2F);
  hand.speed = 0.2F * std::exp(normal(random, 0, 0.1F));
  hand.bow = normal(random, 0, 0.04F);
  hand.shake = uniform(random, 0.015F, 0.05F);
  hand.tremor = uniform(random, 0.004F, 0.01F);
  hand.slope = normal(random, 0, 0.01F);
  hand.wave = normal(random, 0, 0.05F);
  hand.joins = random.uniform() < real(0.5);
  hand.rounds = random.uniform() < real(0.4);
  hand.ways = random.bits();
  if (hand.joins) hand.letter_space *= 0.6F;
  return hand;
}

std::vector<PenPoint> write_text(const std::string& text, const Hand& hand, Random random) {
  Line line(hand, random);
  line.write(text);
  std::vector<PenPoint> points;
  for (const Stroke& stroke : line.take()) {
    const Travel travel(stroke, hand);
    const int intervals = std::max(1, static_cast<int>(std::lround(travel.duration())));
    for (int i = 0; i <= intervals; ++i) {
      const float moment = travel.duration() * static_cast<float>(i) / static_cast<float>(intervals);
      const CurvePoint p = travel.at(moment);
      points.push_back({p.x + normal(random, 0, hand.tremor * hand.size),
                        p.y + normal(random, 0, hand.tremor * hand.size), i == intervals});
    }
  }
  return points;
}

}  // namespace lamina
