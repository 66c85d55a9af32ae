#include "models/handwriting/data/data.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "models/handwriting/data/texts.h"

namespace lamina::handwriting {

namespace {

constexpr std::uint32_t hands = 100, hands_per_test_hand = 10;
constexpr std::uint64_t text_stream = 0x74657874, line_stream = 0x6c696e65;

/// Hands 0, 10, 20, ... write the test lines, the others the training lines.
std::uint32_t draw_hand_number(Random& random, bool test) {
  const std::uint32_t tenth = random.below(hands / hands_per_test_hand);
  return tenth * hands_per_test_hand + (test ? 0 : 1 + random.below(hands_per_test_hand - 1));
}

/// `count` texts that are not in `others`.
std::vector<std::string> draw_texts(const Random& random, size_t count, const std::set<std::string>& others) {
  std::vector<std::string> texts;
  for (std::uint64_t number = 0; texts.size() < count; ++number) {
    Random own = random.split(number);
    const size_t length = 20 + own.below(25);  // some 700 points on average
    std::string text = draw_text(own.split(0), length);
    if (!others.contains(text)) texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<Line> write_lines(std::uint64_t seed, const Random& random, const std::vector<std::string>& texts,
                              bool test) {
  std::vector<Line> lines(texts.size());
  parallel_for(texts.size(), 16, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Random own = random.split(i);
      const Hand hand = draw_hand(seed, draw_hand_number(own, test));
      lines[i] = line_of(write_text(texts[i], hand, own.split(0)), texts[i]);
    }
  });
  return lines;
}

}  // namespace

Line line_of(const std::vector<PenPoint>& points, const std::string& text) {
  if (points.size() < 2) fail("handwriting: a line of ", points.size(), " points; two are needed");
  Line line{.points = {}, .text = symbols_of(text)};
  line.points.reserve(3 * points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const PenPoint &from = points[i == 0 ? 0 : i - 1], &to = points[i];
    for (const float value : {to.x - from.x, to.y - from.y, to.up ? 1.0F : 0.0F})
      line.points.push_back(static_cast<real>(value));
  }
  return line;
}

void normalize(Data& data) {
  double sum[2] = {}, squares[2] = {}, count = 0;
  for (const Line& line : data.train) {
    for (size_t i = 0; i < line.points.size(); ++i) {
      if (i % 3 == 2) continue;
      const auto offset = static_cast<double>(line.points[i]);
      sum[i % 3] += offset;
      squares[i % 3] += offset * offset;
    }
    count += static_cast<double>(line.count());
  }
  const auto deviation = [&](size_t axis) {
    const double mean = sum[axis] / count, variance = squares[axis] / count - mean * mean;
    return static_cast<real>(variance > 0 ? std::sqrt(variance) : 1);
  };
  data.deviation_x = deviation(0);
  data.deviation_y = deviation(1);
  for (std::vector<Line>* const lines : {&data.train, &data.test})
    for (Line& line : *lines)
      for (size_t i = 0; i < line.points.size(); i += 3) {
        line.points[i] /= data.deviation_x;
        line.points[i + 1] /= data.deviation_y;
      }
}

Data synthetic_lines(std::uint64_t seed, size_t train, size_t test) {
  const Random texts(seed, text_stream), lines(seed, line_stream);
  Data data;
  const std::vector<std::string> test_texts = draw_texts(texts.split(1), test, {});
  data.test = write_lines(seed, lines.split(1), test_texts, true);
  const std::set<std::string> taken(test_texts.begin(), test_texts.end());
  data.train = write_lines(seed, lines.split(0), draw_texts(texts.split(0), train, taken), false);
  normalize(data);
  data.source = text("built-in lines of a synthetic pen, not IAM-OnDB (seed ", seed, "): ", train,
                     " training lines of 90 hands, ", test, " test lines of 10 others");
  return data;
}

Batch make_batch(std::span<const Line> lines, std::span<const int> chosen, size_t length) {
  const size_t rows = chosen.size();
  const auto line = [&](size_t r) -> const Line& { return lines[static_cast<size_t>(chosen[r])]; };
  size_t longest = 2;
  std::vector<std::vector<int>> texts;
  for (size_t r = 0; r < rows; ++r) {
    longest = std::max(longest, line(r).count());
    texts.push_back(line(r).text);
  }
  const size_t steps = std::min(length, longest - 1);
  Batch batch{.points = Tensor::zeros({steps + 1, rows, 3}),
              .mask = Tensor::zeros({steps, rows}),
              .texts = TextBatch(texts)};
  for (size_t r = 0; r < rows; ++r)
    for (size_t t = 0; t <= std::min(steps, line(r).count() - 1); ++t) {
      std::copy_n(line(r).points.data() + 3 * t, 3, batch.points.data() + 3 * (t * rows + r));
      if (t > 0) batch.mask[(t - 1) * rows + r] = 1;
    }
  return batch;
}

}  // namespace lamina::handwriting
