#pragma once
// Folders of runs as the report finds them, and parts of the report on them.

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/files/file.h"
#include "tools/report/document.h"

namespace lamina::report_test {

/// Writes the folder of a run: config.json with these settings, and metrics.csv where it is not empty.
inline void make_run_of(const std::string& experiment, const std::string& folder, const Json& settings,
                        const std::string& metrics) {
  std::filesystem::create_directories(folder);
  const Json config{{"experiment", experiment}, {"variant", settings.value("norm", "")},
                    {"settings", settings},     {"lamina", "0.1.0"},
                    {"scalar", "float"},        {"threads", 2},
                    {"backend", "own kernels"}};
  write_file(folder + "/config.json", config.dump());
  if (!metrics.empty()) write_file(folder + "/metrics.csv", metrics);
}

inline Json exhibit_of(const Json& document, const std::string& id) {
  for (const Json& each : document["exhibits"])
    if (each["id"] == id) return each;
  FAIL("no exhibit ", id);
  return {};
}

/// The committed points of the paper's curves.
inline std::vector<PaperPanel> committed_panels() {
  const std::string path = "tools/report/paper/curves.json";
  return panels_from(path, read_file(path));
}

/// The exhibit on what is below a folder, beside the paper's curves.
inline Json exhibit_on(const std::string& root, const std::string& id) {
  return exhibit_of(make_document(find_runs({root}), {}, committed_panels()), id);
}

}  // namespace lamina::report_test
