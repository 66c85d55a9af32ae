#pragma once
// Pictures as files that say where they come from: the version and the commit of the program that drew them. Any
// viewer shows the picture; `grep -a commit FILE` shows the rest.

#include <cstddef>
#include <string>
#include <string_view>

namespace lamina {

/// A number as PNG files hold it: 32 bits, most significant byte first.
std::string png_number(std::size_t value);

/// A chunk of a PNG file: length, type, data, checksum of type and data.
std::string png_chunk(std::string_view type, std::string_view data);

/// The bytes of an SVG or PNG picture with "drawn by lamina VERSION, commit COMMIT" put in front of its end, as a
/// comment or as a text chunk. What is neither SVG nor PNG comes back as it was.
std::string with_origin(std::string picture);

/// Replaces the file safely (core/file.h), whose errors it has, with the picture and its origin.
void write_picture(const std::string& path, std::string picture);

}  // namespace lamina
