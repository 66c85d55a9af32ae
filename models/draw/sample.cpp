#include "models/draw/sample.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/ops.h"

namespace lamina::draw {

namespace {

constexpr size_t scale = 3, gap = 4;  // screen pixels: of a pixel of the canvas, and between pictures
constexpr Color paper{255, 255, 255}, red{220, 30, 30};

/// A sheet of pictures of `side` canvas pixels.
class Sheet {
 public:
  Sheet(size_t side, size_t columns, size_t rows)
      : side_(side), image_(columns * step() + gap, rows * step() + gap, paper) {}

  /// The canvas [A^2], black ink on white.
  void put(size_t column, size_t row, const real* canvas) {
    for (size_t y = 0; y < side_ * scale; ++y)
      for (size_t x = 0; x < side_ * scale; ++x) {
        const auto ink = static_cast<double>(canvas[y / scale * side_ + x / scale]);
        const auto grey = static_cast<std::uint8_t>(std::lround(255 * (1 - ink)));
        image_.at(left(column) + x, left(row) + y) = {grey, grey, grey};
      }
  }

  /// The rectangle through the outermost filters.
  void outline(size_t column, size_t row, const Attention& attention, const Frame& frame) {
    const double reach = static_cast<double>(attention.points - 1) / 2 * frame.stride;
    const double thick = std::clamp(frame.deviation, 1.0 / scale, 2.0);
    for (size_t y = 0; y < side_ * scale; ++y)
      for (size_t x = 0; x < side_ * scale; ++x) {
        const auto distance = [&](size_t at, double centre) {
          return std::fabs((static_cast<double>(at) + 0.5) / scale - 0.5 - centre) - reach;
        };
        // 0 on the outline, negative inside
        const double outside = std::max(distance(x, frame.centre_x), distance(y, frame.centre_y));
        if (std::fabs(outside) <= thick / 2) image_.at(left(column) + x, left(row) + y) = red;
      }
  }

  Image take() { return std::move(image_); }

 private:
  size_t step() const { return side_ * scale + gap; }
  size_t left(size_t column) const { return gap + column * step(); }

  size_t side_;
  Image image_;
};

const real* canvas_at(const Painting& painting, size_t t, size_t sample) {
  return painting.canvas[t].data() + sample * painting.canvas[t].columns();
}

Frame frame_at(const Painting& painting, size_t t, size_t sample) {
  return frame_of(painting.attention, painting.focus[t].data() + sample * focus_size);
}

/// All samples after glimpse t.
Image picture_of(const Painting& painting, size_t t, size_t columns, bool outlined) {
  Sheet sheet(painting.attention.side, columns, (painting.count() + columns - 1) / columns);
  for (size_t i = 0; i < painting.count(); ++i) {
    sheet.put(i % columns, i / columns, canvas_at(painting, t, i));
    if (outlined) sheet.outline(i % columns, i / columns, painting.attention, frame_at(painting, t, i));
  }
  return sheet.take();
}

}  // namespace

Painting paint(const Model& model, size_t count, std::uint64_t seed) {
  const GlimpseSizes& sizes = model.sizes();
  Tensor noise({sizes.glimpses, count, sizes.latent});
  Random(seed).fill_normal(noise.data(), noise.size(), 0, 1);
  Painting painting{.attention = sizes.writing(), .canvas = {}, .focus = {}};
  model.generate(noise, [&](size_t, const Tensor& canvas, const Tensor& focus) {
    painting.canvas.push_back(sigmoid(canvas));
    painting.focus.push_back(focus);
  });
  return painting;
}

Image grid_of(const Painting& painting, size_t columns) {
  return picture_of(painting, painting.glimpses() - 1, columns, false);
}

Image strip_of(const Painting& painting, size_t rows, size_t columns) {
  rows = std::min(rows, painting.count());
  columns = std::min(columns, painting.glimpses());
  Sheet sheet(painting.attention.side, columns, rows);
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) {
      const size_t t = (column + 1) * painting.glimpses() / columns - 1;
      sheet.put(column, row, canvas_at(painting, t, row));
      sheet.outline(column, row, painting.attention, frame_at(painting, t, row));
    }
  return sheet.take();
}

std::vector<Image> frames_of(const Painting& painting, size_t columns) {
  std::vector<Image> frames;
  for (size_t t = 0; t < painting.glimpses(); ++t) frames.push_back(picture_of(painting, t, columns, true));
  frames.push_back(grid_of(painting, columns));
  return frames;
}

}  // namespace lamina::draw
