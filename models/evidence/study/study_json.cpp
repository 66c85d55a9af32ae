#include "models/evidence/study/study_json.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "models/run/json_number.h"
#include "models/run/metrics.h"

namespace lamina {

namespace {
constexpr int deepest = 6;  ///< brackets within brackets
}

StudyJson::Json StudyJson::parse(std::string_view content) const {
  std::vector<std::set<std::string>> keys;
  std::string twice;
  const auto look = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > deepest) wrong("has brackets within more than ", deepest, " brackets; a study needs fewer");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  Json json;
  try {
    json = Json::parse(content, look);
  } catch (const nlohmann::json::exception& problem) {
    const std::string what = problem.what();
    wrong("is not JSON (", what.substr(what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2),
          "); correct it");
  }
  if (!twice.empty()) wrong("'", twice, "' is there twice; leave one of them");
  if (!json.is_object()) wrong("holds no {...}; lamina study --help shows what a study looks like");
  return json;
}

void StudyJson::require_keys(const Json& object, const std::string& where,
                             const std::vector<std::string>& known) const {
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      wrong(where, "'", key, "' is no key; there are ", joined(known));
}

void StudyJson::require_list(const Json& value, const std::string& name) const {
  if (!value.is_array()) wrong("'", name, "' is no list; write [...]");
  if (value.empty()) wrong("'", name, "' is an empty list; give it a value, or leave the key out");
}

void StudyJson::require_few(const Json& settings, const std::string& name) const {
  if (settings.size() > most_settings)
    wrong("'", name, "' holds more than ", most_settings, " settings; make fewer");
}

std::string StudyJson::word(const Json& value, const std::string& name) const {
  if (!value.is_string()) wrong("'", name, "' is no text; write it in quotes");
  return value.get<std::string>();
}

void StudyJson::set(Settings& settings, const std::string& name, const Json& value,
                    const std::string& where) const {
  for (const auto& [own, instead] :
       {std::pair{"seed", "\"seeds\": [1, 2, 3]"},
        std::pair{"seeds", "\"seeds\": [1, 2, 3] beside the settings"},
        std::pair{"threads", "\"threads\": 1 beside the settings"},
        std::pair{"out", "--out behind lamina study"}, std::pair{"resume", "nothing: the study sees to it"}})
    if (name == own) wrong(where, ": '", name, "' is not for single runs; write ", instead);
  if (name.empty()) wrong(where, ": a setting without a name; name a flag without its dashes");
  if (value.is_boolean())
    settings.set(name, value.get<bool>());
  else if (value.is_number_integer()) {
    try {
      settings.set(name, whole_from_json<std::int64_t>(value, name));
    } catch (const Error& problem) {
      wrong(where, ": ", problem.what());
    }
  } else if (value.is_number())
    settings.set(name, value.get<double>());
  else if (value.is_string())
    settings.set(name, value.get<std::string>());
  else
    wrong(where, ": '", name, "' is no number, text, true or false; lists of values belong into 'variants'");
}

Settings StudyJson::settings(const Json& object, const std::string& name) const {
  if (!object.is_object()) wrong("'", name, "' is no {...}; write {\"flag\": value}");
  require_few(object, name);
  Settings settings;
  for (const auto& [key, value] : object.items()) set(settings, key, value, "'" + name + "'");
  return settings;
}

}  // namespace lamina
