#pragma once
// Whole files, read and safely replaced.

#include <string>
#include <string_view>

namespace lamina {

/// The file's bytes. DataError when it cannot be read.
std::string read_file(const std::string& path);

/// Replaces the file in one step: another process sees the old content or the new one, never a part of it,
/// and a failure leaves the old one. DataError when the folder cannot be written or the disk is full.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace lamina
