#pragma once
// Pictures as PNG files, and animations as APNG, which every browser shows.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lamina {

using Color = std::array<std::uint8_t, 3>;  ///< red, green, blue

struct Image {
  Image(std::size_t columns, std::size_t lines, Color color)
      : width(columns), height(lines), pixels(columns * lines, color) {}
  Color& at(std::size_t x, std::size_t y) { return pixels[y * width + x]; }
  const Color& at(std::size_t x, std::size_t y) const { return pixels[y * width + x]; }

  std::size_t width, height;
  std::vector<Color> pixels;  ///< row by row from the top
};

/// Writes it with its origin (picture_file.h). Throws Error for an image without pixels.
void write_png(const std::string& path, const Image& image);

/// Shows the frames for `milliseconds` each, the last one for `rest` milliseconds, and repeats. Throws Error
/// when there are none or they have no pixels, when they differ in size, and for a time outside 0 to 65535.
void write_animation(const std::string& path, const std::vector<Image>& frames, int milliseconds, int rest);

}  // namespace lamina
