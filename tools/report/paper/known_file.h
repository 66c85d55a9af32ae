#pragma once
// Files that `make` puts beside the page: what is known of the paper, for every report.

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "tools/report/document.h"
#include "tools/report/page.h"

namespace lamina {

/// What read(JSON) makes of a file's content. DataError with the path and the remedy where it is damaged.
template <class Read>
auto read_known(const std::string& path, std::string_view content, const Read& read) {
  try {
    return read(Json::parse(content));
  } catch (const Json::exception& problem) {
    fail<DataError>(path, ": is damaged (", problem.what(), "); run make report again");
  }
}

/// What from(path, content) makes of the file with this name; empty where there is none.
template <class From>
auto known_beside_page(const std::string& name, const From& from) {
  const std::string path = beside_page(name);
  return exists(path) ? from(path, read_file(path)) : decltype(from(path, name)){};
}

}  // namespace lamina
