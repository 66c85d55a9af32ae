// The runs of a study whose folders are gone: numbers.json has kept what they measured.

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/evidence/kept_numbers.h"
#include "tools/report/found/runs.h"

namespace lamina {

namespace {

using Json = nlohmann::ordered_json;

Csv csv_of(const Table& table) {
  Csv csv{.columns = table.columns};
  for (const std::vector<double>& row : table.rows) {
    std::vector<std::string>& fields = csv.rows.emplace_back();
    for (const double value : row) fields.push_back(number_text(value));
  }
  return csv;
}

/// Flags of a study, under the names that a run's config.json gives them.
void add_settings(Settings& settings, const Json& json) {
  for (const auto& [flag, value] : json.items()) {
    const std::string name = name_of_setting(flag);
    if (value.is_boolean())
      settings.set(name, value.get<bool>());
    else if (value.is_number_integer())
      settings.set(name, value.get<std::int64_t>());
    else if (value.is_number())
      settings.set(name, value.get<double>());
    else
      settings.set(name, value.get<std::string>());
  }
}

/// The settings of the combination whose name, with "-seed" and a number, is the run's.
RunConfig config_of(const Json& study, const std::string& run) {
  const size_t end = run.rfind("-seed");
  if (end == std::string::npos) fail<DataError>("its run ", run, " has no seed");
  RunConfig config{.experiment = study.at("experiment").get<std::string>(), .variant = run.substr(0, end)};
  add_settings(config.settings, study.at("settings"));
  add_settings(config.settings, study.at("combinations").at(config.variant));
  config.settings.set("seed", run.substr(end + 5));
  config.settings.set("smoke", study.value("smoke", std::int64_t{0}));
  config.threads = study.value("threads", 1);
  return config;
}

}  // namespace

std::vector<FoundRun> kept_runs(const std::string& folder) {
  const std::filesystem::path in = folder;
  const std::string file = (in / "study.json").string();
  if (!exists(file)) return {};
  std::vector<FoundRun> runs;
  try {
    const Json study = Json::parse(read_file(file));
    for (const auto& [name, kept] : kept_numbers(folder)) {
      const std::string path = (in / name).string();
      if (exists(path)) continue;
      FoundRun& run = runs.emplace_back(
          FoundRun{.path = path, .config = config_of(study, name), .data_digest = kept.files});
      if (kept.end.outcome == RunEnd::diverged) run.diverged = kept.end.reason;
      run.files["metrics.csv"] = csv_of(kept.curves);
      if (!kept.test.columns.empty()) run.files["test.csv"] = csv_of(kept.test);
    }
  } catch (const Json::exception& problem) {
    fail<DataError>(file, ": is damaged (", problem.what(), "); restore it, or train the study again");
  }
  return runs;
}

}  // namespace lamina
