#include "models/evidence/run_end.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/run/json_number.h"

namespace lamina {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t largest_end = std::size_t{1} << 16;

std::string path_in(const std::string& folder) { return folder + "/outcome.json"; }

/// Text from outside (an error that names a file) need not be UTF-8.
std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string name_of(RunEnd::Outcome outcome) {
  switch (outcome) {
    case RunEnd::waiting:
      return "waiting";
    case RunEnd::finished:
      return "finished";
    case RunEnd::diverged:
      return "diverged";
    case RunEnd::failed:
      return "failed";
  }
  return {};
}

RunEnd::Outcome outcome_named(const std::string& name) {
  for (const auto outcome : {RunEnd::finished, RunEnd::diverged, RunEnd::failed})
    if (name_of(outcome) == name) return outcome;
  fail("'", name, "' is no outcome");
}

RunEnd read_end(const std::string& folder) {
  const std::string path = path_in(folder);
  if (!exists(path)) return {};
  const std::string bytes = read_file(path, largest_end);
  const auto damaged = [&](const std::exception& problem) {
    fail<DataError>(path, ": is damaged (", problem.what(),
                    "); remove it, and the study looks at the run again");
  };
  try {
    const Json json = Json::parse(bytes);
    return {.outcome = outcome_named(json.at("outcome").get<std::string>()),
            .reason = json.at("reason").get<std::string>(),
            .data = json.at("data").get<std::string>(),
            .peak_bytes = whole_from_json<std::size_t>(json.at("peak_bytes"), "peak_bytes"),
            .rows = whole_from_json<std::size_t>(json.value("rows", Json(0)), "rows")};
  } catch (const nlohmann::json::exception& problem) {
    damaged(problem);
  } catch (const Error& problem) {
    damaged(problem);
  }
  return {};
}

void write_end(const std::string& folder, const RunEnd& end) {
  write_file(path_in(folder), dumped({{"outcome", name_of(end.outcome)},
                                      {"reason", end.reason},
                                      {"data", end.data},
                                      {"peak_bytes", end.peak_bytes},
                                      {"rows", end.rows}}) +
                                  '\n');
}

void remove_end(const std::string& folder) { std::filesystem::remove(path_in(folder)); }

}  // namespace lamina
