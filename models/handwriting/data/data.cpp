#include "models/handwriting/data/data.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace lamina::handwriting {

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
