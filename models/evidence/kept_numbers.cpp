#include "models/evidence/kept_numbers.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/run/json_number.h"

namespace lamina {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t largest_file = size_t{64} << 20;

/// Text from outside (an error that names a file) need not be UTF-8.
std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// {"step": [1, 2], ...}. JSON has no NaN and no infinity: null.
Json json_of(const Table& table) {
  Json json = Json::object();
  for (const std::string& column : table.columns) {
    json[column] = Json::array();
    for (const double value : table.column(column))
      json[column].push_back(std::isfinite(value) ? Json(value) : Json());
  }
  return json;
}

Table table_from(const Json& json) {
  Table table;
  for (const auto& [column, values] : json.items()) {
    table.columns.push_back(column);
    table.rows.resize(std::max(table.rows.size(), values.size()));
    for (size_t row = 0; row < table.rows.size(); ++row) {
      const Json& value = values.at(row);
      table.rows[row].push_back(value.is_null() ? std::nan("") : value.get<double>());
    }
  }
  for (const std::vector<double>& row : table.rows)
    if (row.size() != table.columns.size()) fail("columns of different lengths");
  return table;
}

Json json_of(const MeasuredRun& run, size_t data) {
  Json json{{"outcome", name_of(run.end.outcome)}};
  if (!run.end.reason.empty()) json["reason"] = run.end.reason;
  if (!run.data.empty()) json["data"] = data;
  if (!run.files.empty()) json["files"] = run.files;
  if (run.end.peak_bytes > 0) json["peak_bytes"] = run.end.peak_bytes;
  for (const auto& [name, table] :
       {std::pair{"curves", &run.curves}, {"recorded", &run.recorded}, {"test", &run.test}})
    if (!table->columns.empty()) json[name] = json_of(*table);
  return json;
}

MeasuredRun run_from(const Json& json, const Json& data) {
  MeasuredRun run;
  run.end.outcome = outcome_named(json.at("outcome").get<std::string>());
  run.end.reason = json.value("reason", "");
  if (json.contains("data"))
    run.data = data.at(whole_from_json<size_t>(json["data"], "data")).get<std::string>();
  run.files = json.value("files", "");
  if (json.contains("peak_bytes"))
    run.end.peak_bytes = whole_from_json<size_t>(json["peak_bytes"], "peak_bytes");
  for (const auto& [name, table] :
       {std::pair{"curves", &run.curves}, {"recorded", &run.recorded}, {"test", &run.test}})
    if (json.contains(name)) *table = table_from(json[name]);
  return run;
}

}  // namespace

std::string numbers_of(const std::vector<MeasuredRun>& runs) {
  std::vector<std::string> data;
  std::string lines;
  for (const MeasuredRun& run : runs) {
    if (!run.ended()) continue;
    const auto place = std::ranges::find(data, run.data) - data.begin();
    if (place == std::ssize(data) && !run.data.empty()) data.push_back(run.data);
    lines += text(lines.empty() ? "\n" : ",\n", dumped(run.run.name), ": ",
                  dumped(json_of(run, static_cast<size_t>(place))));
  }
  return "{\"data\": " + dumped(data) + ",\n\"runs\": {" + lines + "}}\n";
}

KeptNumbers kept_numbers(const std::string& folder) {
  const std::string path = folder + '/' + numbers_file;
  if (!exists(path)) return {};
  const std::string bytes = read_file(path, largest_file);
  KeptNumbers all;
  const auto damaged = [&](const std::exception& problem) {
    fail<DataError>(path, ": is damaged (", problem.what(), "); restore or remove it");
  };
  try {
    const Json json = Json::parse(bytes);
    for (const auto& [name, run] : json.at("runs").items()) all.emplace(name, run_from(run, json.at("data")));
  } catch (const nlohmann::json::exception& problem) {
    damaged(problem);
  } catch (const Error& problem) {
    damaged(problem);
  }
  return all;
}

}  // namespace lamina
