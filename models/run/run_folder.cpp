#include "models/run/run_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/gemm/gemm.h"
#include "core/real.h"
#include "core/threads/parallel.h"
#include "core/version.h"
#include "models/run/event_file.h"
#include "models/run/json_number.h"
#include "models/run/metrics.h"
#include "models/text/utf8.h"

namespace lamina {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr size_t largest_config = size_t{1} << 20;

Json to_json(const RunConfig& config) {
  Json settings = Json::object();
  for (const auto& [name, value] : config.settings.entries())
    std::visit([&, &key = name](const auto& content) { settings[key] = content; }, value);
  Json json = {{"experiment", config.experiment}, {"variant", config.variant}, {"settings", settings},
               {"lamina", config.version},        {"scalar", config.scalar},   {"threads", config.threads},
               {"backend", config.backend}};
  if (!config.commit.empty()) json["commit"] = config.commit;
  if (config.ranks > 1) json["ranks"] = config.ranks;
  return json;
}

void write_as_it_is(const std::string& folder, const RunConfig& config) {
  write_file(folder + "/config.json", to_json(config).dump(2) + '\n');
}

Settings settings_from(const Json& json) {
  Settings settings;
  for (const auto& [name, value] : json.items()) {
    if (value.is_boolean())
      settings.set(name, value.get<bool>());
    else if (value.is_number_integer())
      settings.set(name, whole_from_json<std::int64_t>(value, name));
    else if (value.is_number())
      settings.set(name, value.get<double>());
    else if (value.is_null())  // JSON has no NaN and no infinity
      settings.set(name, std::numeric_limits<double>::quiet_NaN());
    else
      settings.set(name, value.get<std::string>());
  }
  return settings;
}

RunConfig config_from(const Json& json) {
  return {.experiment = json.at("experiment").get<std::string>(),
          .variant = json.at("variant").get<std::string>(),
          .settings = settings_from(json.at("settings")),
          .backend = json.at("backend").get<std::string>(),
          .version = json.at("lamina").get<std::string>(),
          .commit = json.value("commit", ""),
          .scalar = json.at("scalar").get<std::string>(),
          .threads = whole_from_json<int>(json.at("threads"), "threads"),
          .ranks = json.contains("ranks") ? whole_from_json<size_t>(json.at("ranks"), "ranks") : 1};
}

[[noreturn]] void damaged(const std::string& file, const std::exception& problem) {
  fail<DataError>(file, ": is damaged (", problem.what(),
                  "); restore it or start a new run in another folder");
}

RunConfig read_config(const std::string& file, const std::string& bytes) {
  try {
    return config_from(Json::parse(bytes));
  } catch (const nlohmann::json::exception& problem) {
    damaged(file, problem);
  } catch (const Error& problem) {
    damaged(file, problem);
  }
}

RunConfig read_config(const std::string& file) { return read_config(file, read_file(file, largest_config)); }

/// JSON is UTF-8; paths need not be. Checked before the folder is made.
void require_utf8(const Settings& settings) {
  for (const auto& [name, value] : settings.entries())
    if (const auto* words = std::get_if<std::string>(&value); words != nullptr && !is_utf8(*words))
      fail<UsageError>("--", name, " ", *words,
                       ": is not valid UTF-8, and config.json must hold it; rename it or link to it");
}

bool holds_a_run(const fs::path& folder) {
  return std::ranges::any_of(std::to_array({"config.json", "metrics.csv", "model.safetensors", "state"}),
                             [&](const char* name) { return exists((folder / name).string()); });
}

/// Whether a run may write a file of this name besides. In a folder without a run it is somebody else's, or left of a run,
/// whose best model would be taken for the new one's.
bool may_be_replaced(const fs::path& file) {
  constexpr auto names = std::to_array<const char*>(
      {"data.txt", diverged_file, event_file_name, "figure.png", "figure.svg", "initial.csv", "passages.tsv",
       "record.csv", "samples.txt", "steps.csv", "summary.md", "test.csv", "vocabulary.txt"});
  const std::string name = file.filename().string();
  const bool is_of_tasks = name.starts_with("tasks") && name.ends_with(".csv");  // of skip-thoughts eval
  return file.extension() == ".safetensors" || is_of_tasks || std::ranges::find(names, name) != names.end();
}

/// A new run replaces neither another one, nor the tables of a study, nor somebody's files.
void require_free(const std::string& folder) {
  if (exists(folder + "/study.json"))
    fail<UsageError>("--out ", folder, ": holds a study; name another folder");
  if (!holds_a_run(folder)) {
    for (const fs::path file : entries_of(folder))
      if (may_be_replaced(file))
        fail<UsageError>("--out ", folder, ": holds ", file.filename().string(),
                         ", which the run could replace; name another folder, or move it away");
    return;
  }
  if (!exists(folder + "/config.json"))
    fail<UsageError>("--out ", folder, ": holds a run whose config.json is missing; restore that file, or ",
                     "move the folder away");
  fail<UsageError>("--out ", folder,
                   ": holds a run already; add --resume to go on with it, or name another folder");
}

/// runs/mnist-layer, or the first of runs/mnist-layer-2, -3, ... that does not exist yet.
std::string make_default_folder(const RunConfig& config) {
  std::string name = "runs/" + config.experiment;
  if (!config.variant.empty()) name += '-' + config.variant;
  std::string folder = name;
  for (int number = 2; !make_folder(folder); ++number) folder = name + '-' + std::to_string(number);
  return folder;
}

}  // namespace

const char* const scalar_name = std::is_same_v<real, double> ? "double" : "float";

std::string text_of(const SettingValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  return text(std::get<std::int64_t>(value));
}

std::string name_of_setting(std::string flag) {
  std::ranges::replace(flag, '-', '_');
  return flag;
}

std::string flag_of_setting(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

void Settings::refuse(std::string_view name, const std::string& value) {
  fail("settings: '", name, "' is ", value,
       ", which config.json cannot hold; a finite number is needed, an integer below 2^63");
}

void Settings::put(std::string_view name, SettingValue value) {
  if (const auto* number = std::get_if<double>(&value); number != nullptr && std::isinf(*number))
    refuse(name, text_of(value));
  const auto place = std::ranges::find(entries_, name, &std::pair<std::string, SettingValue>::first);
  if (place != entries_.end())
    place->second = std::move(value);
  else
    entries_.emplace_back(name, std::move(value));
}

Settings Settings::with(const Settings& others) const {
  Settings all = *this;
  for (const auto& [name, value] : others.entries()) all.put(name, value);
  return all;
}

bool Settings::has(std::string_view name) const {
  return std::ranges::any_of(entries_, [&](const auto& entry) { return entry.first == name; });
}

std::string Settings::word(std::string_view name) const { return has(name) ? text_of(find(name)) : ""; }

const SettingValue& Settings::find(std::string_view name) const {
  for (const auto& [key, value] : entries_)
    if (key == name) return value;
  fail<DataError>("config.json: no setting '", name, "'; another version wrote it, start a new run");
}

template <class Value>
Value Settings::get(std::string_view name) const {
  const SettingValue& value = find(name);
  if constexpr (std::is_same_v<Value, double>)
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* content = std::get_if<Value>(&value)) return *content;
  fail<DataError>("config.json: setting '", name, "' is of another kind; restore the value that was written");
}

template bool Settings::get(std::string_view) const;
template std::int64_t Settings::get(std::string_view) const;
template double Settings::get(std::string_view) const;
template std::string Settings::get(std::string_view) const;

bool make_folder(const std::string& path) {
  std::error_code problem;
  const bool made = fs::create_directories(path, problem);
  if (problem || !is_folder(path))
    fail<DataError>(path, ": cannot be made a folder (",
                    problem ? problem.message() : "a file is in its place", "); give another one with --out");
  return made;
}

RunConfig write_config(const std::string& folder, RunConfig config) {
  config.version = version;
  config.commit = commit();
  config.scalar = scalar_name;
  config.threads = threads();
  config.ranks = distributed::group().size();
  if (config.backend.empty()) config.backend = gemm_backend();
  write_as_it_is(folder, config);
  return config;
}

void require_place_for(const std::string& folder, const RunConfig& config) {
  const std::string file = folder + "/config.json";
  if (exists(folder + "/study.json"))
    fail<UsageError>("--out ", folder, ": holds a study; name another folder");
  if (is_locked(folder))
    fail<UsageError>("--out ", folder, ": a process trains in this folder; name another one");
  if (!exists(file)) return;
  const RunConfig there = read_config(file);
  if (there.experiment != config.experiment || there.variant != config.variant)
    fail<UsageError>("--out ", folder, ": holds results of lamina ", there.experiment,
                     there.variant.empty() ? "" : " ", there.variant, "; name another folder");
}

RunFolder RunFolder::follow() {
  const std::string path = distributed::broadcast("");
  return {path, read_config(path + "/config.json", distributed::broadcast("")), nullptr};
}

RunFolder RunFolder::led() && {
  distributed::broadcast(path_);
  distributed::broadcast(to_json(config_).dump());
  return std::move(*this);
}

RunFolder RunFolder::create(const std::string& path, RunConfig config) {
  if (!is_ours()) return follow();
  require_utf8(config.settings);
  if (!path.empty()) make_folder(path);
  const std::string folder = path.empty() ? make_default_folder(config) : path;
  auto lock = std::make_shared<const RunLock>(folder);  // first: two may start at the same time
  require_free(folder);
  remove_unfinished_files(folder);
  return RunFolder(folder, write_config(folder, std::move(config)), std::move(lock)).led();
}

RunFolder RunFolder::resume(const std::string& path, std::string_view experiment) {
  if (!is_ours()) return follow();
  if (path.empty())
    fail<UsageError>(
        "--resume: name the folder of the run to go on with, as in --resume --out runs/mnist-layer");
  const std::string file = path + "/config.json";
  if (!exists(file))
    fail<DataError>(file, ": does not exist, so there is no run to resume; leave out --resume");
  RunConfig config = read_config(file);
  if (config.experiment != experiment)
    fail<UsageError>(file, ": is of a run of lamina ", config.experiment, "; resume it with that command");
  if (config.scalar != scalar_name)
    fail<DataError>(file, ": the run is in ", config.scalar, " and this program in ", scalar_name,
                    "; resume it with the program built by make REAL=", config.scalar);
  auto lock = std::make_shared<const RunLock>(path);
  remove_unfinished_files(path);
  return RunFolder(path, std::move(config), std::move(lock)).led();
}

void RunFolder::change_settings(const Settings& settings) {
  config_.settings = settings;
  write_as_it_is(path_, config_);
}

RunFolder RunFolder::open(const std::string& path) {
  const std::string file = path + "/config.json";
  if (!exists(file))
    fail<DataError>(path,
                    ": is not a run's folder (it has no config.json); give one that lamina wrote, such "
                    "as runs/mnist-layer");
  return {path, read_config(file), nullptr};
}

void note_commit(const RunFolder& run, bool from_first_update) {
  RunConfig config = run.config();
  std::string& all = config.commit;
  const std::string own = commit();
  const std::string last = all.substr(all.rfind(' ') + 1);
  if (from_first_update)
    all = own;
  else if (!all.empty() && last != own)  // where none is noted, it is not known who began
    all += ", " + own;
  if (all != run.config().commit) write_as_it_is(run.path(), config);
}

}  // namespace lamina
