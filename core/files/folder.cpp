#include "core/files/folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.h"
#include "core/files/file.h"

namespace lamina {

namespace {

namespace fs = std::filesystem;

/// What a path names, links followed.
fs::file_type type_of(const std::string& path) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (status.type() == fs::file_type::none) fail_to_read(path, problem.value());
  return status.type();
}

std::vector<fs::directory_entry> sorted_entries(const std::string& folder) {
  std::error_code problem;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
    entries.push_back(*entry);
  if (problem) fail_to_read(folder, problem.value());
  std::ranges::sort(entries);
  return entries;
}

void add_files_below(const std::string& folder, std::string_view ending, std::vector<std::string>& files) {
  for (const fs::directory_entry& entry : sorted_entries(folder)) {
    std::error_code ignored;  // an entry removed meanwhile is no folder
    if (fs::is_directory(entry.symlink_status(ignored)))
      add_files_below(entry.path().string(), ending, files);
    else if (entry.path().native().ends_with(ending))
      files.push_back(entry.path().string());
    else if (fs::is_directory(entry.status(ignored)))  // nobody would miss what is left out
      fail<DataError>(entry.path().string(),
                      ": is a link to a folder, which is not followed; name that folder itself, or put a "
                      "copy of it here");
  }
}

}  // namespace

bool exists(const std::string& path) { return type_of(path) != fs::file_type::not_found; }

bool is_folder(const std::string& path) { return type_of(path) == fs::file_type::directory; }

std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : sorted_entries(folder)) paths.push_back(entry.path().string());
  return paths;
}

std::vector<std::string> files_below(const std::string& folder, std::string_view ending) {
  std::vector<std::string> files;
  add_files_below(folder, ending, files);
  return files;
}

}  // namespace lamina
