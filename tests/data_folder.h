#pragma once
// The location of the real data sets, for tests that use them when they are present.

#include <cstdlib>
#include <filesystem>
#include <string>

namespace lamina {

/// The folder `name` below $LAMINA_DATA, or below ../shared/data when that is not set; empty when there is
/// none; a test that needs it then counts as skipped:
///
///   TEST_CASE("the real files" * doctest::skip(data_folder("mnist").empty())) { ... }
inline std::string data_folder(const std::string& name) {
  const char* root = std::getenv("LAMINA_DATA");
  const std::filesystem::path folder =
      std::filesystem::path(root != nullptr ? root : "../shared/data") / name;
  return std::filesystem::is_directory(folder) ? folder.string() : std::string();
}

}  // namespace lamina
