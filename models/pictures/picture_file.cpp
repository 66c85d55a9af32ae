#include "models/pictures/picture_file.h"

#include <utility>

#include <zlib.h>

#include "core/error.h"
#include "core/files/file.h"
#include "core/version.h"

namespace lamina {

std::string png_number(std::size_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift & 0xff));
  return bytes;
}

std::string png_chunk(std::string_view type, std::string_view data) {
  const std::string checked = std::string(type).append(data);
  const uLong checksum =
      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return png_number(data.size()) + checked + png_number(checksum);
}

std::string with_origin(std::string picture) {
  constexpr std::string_view png = "\x89PNG\r\n\x1a\n", svg_end = "</svg>";
  const std::string origin = text("drawn by lamina ", version, ", commit ", commit());
  if (picture.starts_with(png)) {
    const std::string end = png_chunk("IEND", "");
    if (picture.ends_with(end)) {
      using namespace std::string_view_literals;
      picture.insert(picture.size() - end.size(), png_chunk("tEXt", text("Software\0"sv, origin)));
    }
  } else if (const size_t end = picture.rfind(svg_end); end != std::string::npos) {
    picture.insert(end, text("<!-- ", origin, " -->\n"));
  }
  return picture;
}

void write_picture(const std::string& path, std::string picture) {
  write_file(path, with_origin(std::move(picture)));
}

}  // namespace lamina
