#include "models/handwriting/picture.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "models/text/utf8.h"

namespace lamina::handwriting {

namespace {

constexpr float margin = 12, line_gap = 14, pen_width = 2.2F;
constexpr float letter_height = 18;  // screen pixels of a typical stroke's height
constexpr Color paper{255, 255, 255}, ink{25, 30, 90};

/// The position of a line on the sheet.
struct Placed {
  const std::vector<PenPoint>* points;
  float scale, left, top;  // of the sheet: pixel = (x - left) scale, (y - top) scale
};

struct Layout {
  std::vector<Placed> lines;
  float width = 0, height = margin;
};

/// Scales every line so that its steps have the same length, whatever its units.
float scale_of(const std::vector<PenPoint>& points) {
  std::vector<float> heights;
  float low = points[0].y, high = low;
  for (const PenPoint& p : points) {
    low = std::min(low, p.y), high = std::max(high, p.y);
    if (!p.up) continue;
    heights.push_back(high - low);
    low = high = p.y;
  }
  if (heights.empty()) heights.push_back(high - low);
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::ranges::nth_element(heights, middle);
  return *middle > 0 ? letter_height / *middle : 1;
}

Layout layout_of(const std::vector<std::vector<PenPoint>>& lines) {
  Layout layout;
  for (const auto& points : lines) {
    if (points.empty()) continue;
    const auto [left, right] = std::ranges::minmax(points, {}, &PenPoint::x);
    const auto [top, bottom] = std::ranges::minmax(points, {}, &PenPoint::y);
    const float scale = scale_of(points);
    layout.lines.push_back({&points, scale, left.x - margin / scale, top.y - layout.height / scale});
    layout.width = std::max(layout.width, (right.x - left.x) * scale + 2 * margin);
    layout.height += (bottom.y - top.y) * scale + line_gap;
  }
  layout.height += margin - line_gap;
  return layout;
}

/// Shrinks a sheet that would have more than 16 million pixels, such as one of a model that has not learned
/// to stop.
void shrink(Layout& layout) {
  constexpr float most_pixels = 1 << 24;
  const float factor = std::sqrt(most_pixels / layout.width / layout.height);
  if (factor >= 1) return;
  layout.width *= factor;
  layout.height *= factor;
  for (Placed& line : layout.lines) line.scale *= factor;
}

/// Darkens the pixels within half a pen's width of a straight piece.
void draw_piece(Image& image, float x0, float y0, float x1, float y1, float width, const Color& color) {
  const float reach = width / 2 + 1, dx = x1 - x0, dy = y1 - y0;
  const float inverse_square = 1 / std::max(dx * dx + dy * dy, 1e-6F);
  const auto bound = [](float v, size_t most) {
    return static_cast<size_t>(std::clamp(v, 0.0F, static_cast<float>(most)));
  };
  for (size_t y = bound(std::min(y0, y1) - reach, image.height);
       y < bound(std::max(y0, y1) + reach + 1, image.height); ++y)
    for (size_t x = bound(std::min(x0, x1) - reach, image.width);
         x < bound(std::max(x0, x1) + reach + 1, image.width); ++x) {
      const float px = static_cast<float>(x) + 0.5F - x0, py = static_cast<float>(y) + 0.5F - y0;
      const float along = std::clamp((px * dx + py * dy) * inverse_square, 0.0F, 1.0F);
      const float distance = std::hypot(px - along * dx, py - along * dy);
      const float cover = std::clamp(width / 2 + 0.5F - distance, 0.0F, 1.0F);
      Color& pixel = image.at(x, y);
      for (size_t c = 0; c < 3; ++c) {
        const float mixed = static_cast<float>(paper[c]) +
                            cover * (static_cast<float>(color[c]) - static_cast<float>(paper[c]));
        pixel[c] = std::min(pixel[c], static_cast<std::uint8_t>(mixed));
      }
    }
}

void draw_line(Image& image, const Placed& line, float width) {
  const std::vector<PenPoint>& points = *line.points;
  for (size_t i = 0; i < points.size(); ++i) {
    const PenPoint &from = points[i == 0 || points[i - 1].up ? i : i - 1], &to = points[i];
    draw_piece(image, (from.x - line.left) * line.scale, (from.y - line.top) * line.scale,
               (to.x - line.left) * line.scale, (to.y - line.top) * line.scale, width, ink);
  }
}

/// A steady hand for labels.
Hand plain_hand() {
  Hand hand{};
  hand.width = hand.size = 1;
  hand.speed = 0.1F;
  return hand;
}

}  // namespace

std::string svg_of(const std::vector<std::vector<PenPoint>>& lines) {
  const Layout layout = layout_of(lines);
  std::ostringstream out;
  out.precision(5);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << std::ceil(layout.width) << "\" height=\""
      << std::ceil(layout.height) << "\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << "<g fill=\"none\" stroke=\"#191e5a\" stroke-width=\"" << pen_width
      << "\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n";
  for (const Placed& line : layout.lines) {
    bool down = false;
    out << "<path d=\"";
    for (const PenPoint& p : *line.points) {
      out << (down ? " L" : " M") << (p.x - line.left) * line.scale << ' ' << (p.y - line.top) * line.scale;
      if (!down && p.up) out << " h0";  // a stroke of one point is a dot
      down = !p.up;
    }
    out << "\"/>\n";
  }
  out << "</g>\n</svg>\n";
  return out.str();
}

Image image_of(const std::vector<std::vector<PenPoint>>& lines) {
  Layout layout = layout_of(lines);
  if (!std::isfinite(layout.width) || !std::isfinite(layout.height))
    fail("handwriting: the points are too far apart to be drawn; train the model for longer");
  shrink(layout);
  constexpr float longest_side =
      1 << 22;  // a sheet of a few rows is as wide as its lines, whatever their number
  if (std::max(layout.width, layout.height) > longest_side)
    fail("handwriting: the points are too far apart to be drawn; train the model for longer");
  Image image(static_cast<size_t>(std::ceil(layout.width)) + 1,
              static_cast<size_t>(std::ceil(layout.height)) + 1, paper);
  for (const Placed& line : layout.lines) draw_line(image, line, pen_width);
  return image;
}

Image window_image_of(const Writing& writing, const std::string& text) {
  constexpr size_t most_cell_height = 16, cell_width = 2, labels = 24, most_columns = 2048, most_rows = 8192;
  const size_t characters = symbols_of(text).size(), steps = writing.points.size();
  const size_t points =
      (steps + most_columns - 1) / most_columns;  // of a column, which shows the largest phi
  const size_t columns = (steps + points - 1) / points;
  const size_t cell_height = std::clamp(most_rows / characters, size_t{1}, most_cell_height);
  Image image(labels + columns * cell_width, characters * cell_height, paper);
  std::string_view rest = text;
  for (size_t u = 0; u < characters; ++u) {
    const std::string own(take_bytes_of_character(rest));
    if (u % (most_cell_height / cell_height) == 0) {
      const std::vector<PenPoint> letter = write_text(own, plain_hand(), Random(1));
      const auto middle = static_cast<float>(cell_height * u) + 11;
      draw_line(image, {&letter, 6, -0.7F, -middle / 6}, 1.2F);
    }
    for (size_t column = 0; column < columns; ++column) {
      real phi = 0;
      for (size_t t = column * points; t < std::min(steps, (column + 1) * points); ++t)
        phi = std::max(phi, std::min(writing.window[t * characters + u], real{1}));
      const auto grey = static_cast<std::uint8_t>(255 - std::lround(230 * std::sqrt(phi)));
      for (size_t y = 0; y < cell_height; ++y)
        for (size_t x = 0; x < cell_width; ++x)
          image.at(labels + column * cell_width + x, u * cell_height + y) = {grey, grey, grey};
    }
  }
  return image;
}

}  // namespace lamina::handwriting
