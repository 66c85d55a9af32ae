#pragma once
// What all parts of a study's file are read with: JSON that people write, so that what is wrong in it is said in one line, with
// the remedy.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "models/run/run_folder.h"

namespace lamina {

/// Every error names the file.
class StudyJson {
 public:
  using Json = nlohmann::ordered_json;
  /// More is a mistake, or an attack on whoever reads the file.
  static constexpr std::size_t most_settings = 100;

  explicit StudyJson(const std::string& path) : path_(path) {}
  const std::string& path() const { return path_; }

  template <class... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    fail<DataError>(path_, ": ", parts...);
  }

  /// The {...} that the file holds. No key may be there twice: nlohmann's parser lets the last of two win, which would hide
  /// one.
  Json parse(std::string_view content) const;

  // `name` and `where` are for the error.
  void require_keys(const Json& object, const std::string& where,
                    const std::vector<std::string>& known) const;
  void require_list(const Json& value, const std::string& name) const;  ///< that is not empty
  void require_few(const Json& settings, const std::string& name) const;
  std::string word(const Json& value, const std::string& name) const;

  /// {"flag": value, ...}; of the flags of single runs none that is the study's.
  Settings settings(const Json& object, const std::string& name) const;
  void set(Settings& settings, const std::string& name, const Json& value, const std::string& where) const;

 private:
  const std::string& path_;
};

}  // namespace lamina
