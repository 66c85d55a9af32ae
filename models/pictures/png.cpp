// A PNG file is a signature and chunks: length, type, data, checksum of type and data; numbers are 32 bits,
// most significant byte first. IHDR holds the size, IDAT the compressed rows, each after a byte that names
// its filter. APNG adds acTL, the number of frames, and before each frame fcTL, its place and duration; the
// second and later frames are in fdAT chunks.

#include "models/pictures/png.h"

#include <zlib.h>

#include "core/error.h"
#include "models/pictures/picture_file.h"

namespace lamina {

namespace {

std::string number16(int value) { return png_number(static_cast<std::size_t>(value)).substr(2); }

const Bytef* bytes_of(const std::string& text) { return reinterpret_cast<const Bytef*>(text.data()); }

std::string header(const Image& image) {
  constexpr std::size_t most = 0x7fffffff;  // 31 bits
  for (const std::size_t side : {image.width, image.height})
    if (side == 0 || side > most)
      fail("png: ", image.width, " x ", image.height, " pixels; the format keeps 1 to ", most, " a side");
  constexpr char bits = 8, rgb = 2;
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", png_number(image.width) + png_number(image.height) +
                                                     std::string{bits, rgb, 0, 0, 0});
}

/// The rows, without a filter, compressed.
std::string content(const Image& image) {
  std::string rows;
  for (std::size_t y = 0; y < image.height; ++y) {
    rows.push_back(0);
    for (std::size_t x = 0; x < image.width; ++x)
      for (const std::uint8_t part : image.at(x, y)) rows.push_back(static_cast<char>(part));
  }
  uLongf size = compressBound(static_cast<uLong>(rows.size()));
  std::string compressed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(compressed.data()), &size, bytes_of(rows),
                static_cast<uLong>(rows.size()), Z_BEST_COMPRESSION) != Z_OK)
    fail("png: out of memory; close other programs");
  compressed.resize(size);
  return compressed;
}

std::string frame_control(std::size_t sequence, const Image& frame, int milliseconds) {
  const std::string place =
      png_number(frame.width) + png_number(frame.height) + png_number(0) + png_number(0);
  constexpr char keep = 0, replace = 0;
  return png_chunk("fcTL", png_number(sequence) + place + number16(milliseconds) + number16(1000) +
                               std::string{keep, replace});
}

}  // namespace

void write_png(const std::string& path, const Image& image) {
  write_picture(path, header(image) + png_chunk("IDAT", content(image)) + png_chunk("IEND", ""));
}

void write_animation(const std::string& path, const std::vector<Image>& frames, int milliseconds, int rest) {
  if (frames.empty()) fail("png: an animation of no frames");
  constexpr int longest = 65535;  // 16 bits
  for (const int time : {milliseconds, rest})
    if (time < 0 || time > longest)
      fail("png: a frame of ", time, " milliseconds; the format keeps 0 to ", longest);
  constexpr std::size_t forever = 0;
  std::string file = header(frames[0]) + png_chunk("acTL", png_number(frames.size()) + png_number(forever));
  std::size_t sequence = 0;
  for (const Image& frame : frames) {
    if (frame.width != frames[0].width || frame.height != frames[0].height)
      fail("png: frames of ", frames[0].width, " x ", frames[0].height, " and ", frame.width, " x ",
           frame.height, "; all must be of one size");
    const bool first = &frame == &frames.front(), last = &frame == &frames.back();
    file += frame_control(sequence++, frame, last ? rest : milliseconds);
    file += first ? png_chunk("IDAT", content(frame))
                  : png_chunk("fdAT", png_number(sequence++) + content(frame));
  }
  write_picture(path, file + png_chunk("IEND", ""));
}

}  // namespace lamina
