#pragma once
// The contents of folders. Errors name the path and the remedy, where the standard library's say neither.

#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// Whether there is something of this name; links are followed. DataError when that cannot be determined: a
/// cycle of links, a name too long, a parent folder without search permission.
bool exists(const std::string& path);

/// Whether it is a folder, or a link to one. Errors as for `exists`.
bool is_folder(const std::string& path);

/// The paths of all that is in a folder, in the order of their names. DataError when it is no folder or may
/// not be read.
std::vector<std::string> entries_of(const std::string& folder);

/// The paths of everything but folders that ends in `ending`, in a folder and below it, in the order of their
/// names. DataError for a link to a folder, which could lead back; and as for `entries_of`, also for the folders below.
std::vector<std::string> files_below(const std::string& folder, std::string_view ending);

}  // namespace lamina
