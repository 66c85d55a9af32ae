#pragma once
// Picture files that record their origin: the version and the commit of the program that drew them.
// `grep -a commit FILE` shows it.

#include <cstddef>
#include <string>
#include <string_view>

namespace lamina {

/// A number as PNG files hold it: 32 bits, most significant byte first.
std::string png_number(std::size_t value);

/// A chunk of a PNG file: length, type, data, checksum of type and data.
std::string png_chunk(std::string_view type, std::string_view data);

/// The bytes of an SVG or PNG picture with "drawn by lamina VERSION, commit COMMIT" inserted before its end,
/// as a comment or as a text chunk. Other bytes are returned unchanged.
std::string with_origin(std::string picture);

/// Replaces the file safely with the picture and its origin. Errors as in core/files/file.h.
void write_picture(const std::string& path, std::string picture);

}  // namespace lamina
