#include "tools/report/found/runs.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/files/file.h"
#include "models/recording/steps_file.h"
#include "models/run/data_note.h"
#include "models/run/run_folder.h"
#include "tools/report/exhibits/exhibits.h"
#include "tools/report/found/traces.h"

namespace lamina {

namespace {

namespace fs = std::filesystem;

/// Tables of runs have some kilobytes; a file of more than this is something else.
constexpr size_t most_bytes = size_t{64} << 20;

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

bool holds_results(const fs::path& folder) {
  return is_there(folder / "config.json") || is_there(folder / "study.json");
}

/// The folder and all below it. Links could lead back: of those only one to a run or a study itself, which is not below it, too.
std::vector<fs::path> folders_in(const std::string& root, const Enough& enough) {
  std::error_code ignored;
  if (!fs::is_directory(root, ignored))
    fail<DataError>(root, ": is not a folder; give folders of runs, or nothing for all under runs/");
  fs::path top = fs::path(root).lexically_normal();
  if (!top.has_filename()) top = top.parent_path();  // "runs/"
  std::vector<fs::path> folders{top}, links;
  for (fs::recursive_directory_iterator
           entry(folders[0], fs::directory_options::skip_permission_denied, ignored),
       end;
       entry != end && !enough(); entry.increment(ignored))
    if (entry->is_directory(ignored)) {
      if (!entry->is_symlink(ignored))
        folders.push_back(entry->path());
      else if (holds_results(entry->path()))
        links.push_back(entry->path());
    }
  const auto is_new = [&](const fs::path& link) {
    return std::ranges::none_of(
        folders, [&](const fs::path& folder) { return fs::equivalent(folder, link, ignored); });
  };
  std::ranges::copy_if(links, std::back_inserter(folders), is_new);
  return folders;
}

Csv read_csv(const fs::path& file, Findings& found) {
  try {
    return parse_csv(read_file(file.string(), most_bytes));
  } catch (const DataError& error) {
    found.unreadable.emplace_back(error.what());
    return {.problem = text("cannot be read (", error.what(), ')')};
  }
}

/// The study in a folder, if an exhibit shows it.
std::optional<FoundStudy> study_in(const fs::path& folder, Findings& found) {
  const fs::path file = folder / "study.json", verdicts = folder / "verdicts.json";
  if (!is_there(file)) return {};
  try {
    const auto json = nlohmann::json::parse(read_file(file.string(), most_bytes));
    FoundStudy study{.experiment = json.at("experiment").get<std::string>(),
                     .name = json.value("study", ""),
                     .smoke = json.value("smoke", std::int64_t{0})};
    if (std::ranges::none_of(exhibits(), [&](const Exhibit& each) { return shows(each, study); })) return {};
    if (is_there(verdicts)) study.verdicts = read_file(verdicts.string(), most_bytes);
    return study;
  } catch (const nlohmann::json::exception& error) {
    found.unreadable.push_back(text(file.string(), ": is damaged (", error.what(), ")"));
  } catch (const DataError& error) {
    found.unreadable.emplace_back(error.what());
  }
  return {};
}

/// Why the run in a folder diverged, if it did.
std::optional<std::string> divergence_in(const fs::path& folder, Findings& found) {
  const fs::path file = folder / diverged_file;
  if (!is_there(file)) return {};
  try {
    const std::string reason = read_file(file.string(), most_bytes);
    return reason.substr(0, reason.find('\n'));
  } catch (const DataError& error) {
    found.unreadable.emplace_back(error.what());
    return text(diverged_file, " cannot be read");
  }
}

/// The lab that a folder is of: its config.json says so.
std::optional<FoundStudy> lab_in(const fs::path& folder, const RunConfig& config) {
  if (config.experiment != "lab") return {};
  FoundStudy lab{.experiment = config.experiment, .name = config.variant};
  if (config.settings.has("smoke")) lab.smoke = config.settings.get<std::int64_t>("smoke");
  const fs::path verdicts = folder / "verdicts.json";
  if (is_there(verdicts)) lab.verdicts = read_file(verdicts.string(), most_bytes);
  return lab;
}

std::optional<FoundRun> run_in(const fs::path& folder, const Enough& enough, Findings& found) {
  FoundRun run{.path = folder.string()};
  run.study = study_in(folder, found);
  for (const Exhibit& exhibit : exhibits())
    if (!exhibit.file.empty() && !run.files.contains(exhibit.file) && is_there(folder / exhibit.file) &&
        !enough())
      run.files[exhibit.file] = read_csv(folder / exhibit.file, found);
  if (is_there(folder / steps_file) && !enough())
    run.files[steps_file] = read_csv(folder / steps_file, found);
  run.pictures = pictures_in(run.path);
  run.diverged = divergence_in(folder, found);
  if (is_there(folder / "config.json")) {
    try {
      run.config = RunFolder::open(run.path).config();
      run.data_digest = data_note_of(run.path).digest;
      if (!run.study) run.study = lab_in(folder, *run.config);
    } catch (const DataError& error) {
      run.problem = error.what();
      found.unreadable.push_back(run.problem);
    }
  } else if (!run.study && ((run.files.empty() && run.pictures.empty()) || is_there(folder / "study.json"))) {
    return {};
  }
  return run;
}

/// Whether a folder holds the runs of several variants and measured nothing itself.
bool only_holds_others(const FoundRun& run, const std::vector<FoundRun>& all) {
  return run.files.empty() && std::ranges::any_of(all, [&](const FoundRun& other) {
           return fs::path(other.path).parent_path() == run.path;
         });
}

/// The runs that a study has kept only numbers of.
void add_kept_runs(const fs::path& folder, Findings& found) {
  try {
    std::ranges::move(kept_runs(folder.string()), std::back_inserter(found.runs));
  } catch (const DataError& error) {
    found.unreadable.emplace_back(error.what());
  }
}

}  // namespace

Findings find_runs(const std::vector<std::string>& roots, const Enough& enough) {
  Findings found;
  std::vector<fs::path> folders;
  for (const std::string& root : roots)
    std::ranges::copy(folders_in(root, enough), std::back_inserter(folders));
  std::ranges::sort(folders);
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  std::set<fs::path> studies;
  for (const fs::path& folder : folders) {
    if (enough()) break;
    if (studies.contains(folder.parent_path())) continue;
    if (std::optional<FoundRun> run = run_in(folder, enough, found)) {
      if (run->study) studies.insert(folder);
      found.runs.push_back(*std::move(run));
    }
    if (!studies.contains(folder)) add_kept_runs(folder, found);
    if (is_there(folder / "bench.json")) found.measured.push_back((folder / "bench.json").string());
  }
  found.complete = !enough();
  std::vector<FoundRun> kept;
  for (const FoundRun& run : found.runs)
    if (!only_holds_others(run, found.runs)) kept.push_back(run);
  found.runs = std::move(kept);
  return found;
}

}  // namespace lamina
