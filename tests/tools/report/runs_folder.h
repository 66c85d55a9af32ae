#pragma once
// Folders of runs as the report finds them, and parts of the report on them.

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
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

/// Writes the folder of a run of lamina mnist.
inline void make_run(const std::string& folder, const std::string& norm, const std::string& metrics,
                     const std::string& data = "", const std::string& batch = "128") {
  make_run_of("mnist", folder,
              {{"norm", norm},
               {"preset", "paper"},
               {"data", data},
               {"seed", 1},
               {"epochs", 2},
               {"batch", batch},
               {"lr", 0.001}},
              metrics);
}

inline const std::string two_epochs = "epoch,step,train_nll,test_error\n1,429,0.5,0.03\n2,858,0.25,0.02\n";

inline Json figure_6(const std::string& root) { return exhibit_on(root, "figure-6"); }

inline bool has_problem(const Json& shown, const std::string& words) {
  for (const Json& run : shown["runs"])
    for (const Json& problem : run["problems"])
      if (problem.get<std::string>().find(words) != std::string::npos) return true;
  return false;
}

inline std::set<std::string> badges_of(const Json& owner) {
  std::set<std::string> all;
  for (const Json& badge : owner["badges"]) all.insert(badge["text"].get<std::string>());
  return all;
}

}  // namespace lamina::report_test
