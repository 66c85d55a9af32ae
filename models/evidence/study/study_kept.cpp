// What of a study is kept beside its runs, so that they are never continued with other settings.

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/number.h"
#include "models/evidence/study/study.h"
#include "models/run/length.h"

namespace lamina {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Settings& settings) {
  Json json = Json::object();
  for (const auto& [name, value] : settings.entries())
    std::visit([&, &key = name](const auto& content) { json[key] = content; }, value);
  return json;
}

/// Neither the order of keys nor 1 for 1.0 matters.
bool same(const Json& a, const Json& b) { return nlohmann::json(a) == nlohmann::json(b); }

std::string word_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// "epochs 3", "no epochs".
std::string described(const Json& settings, const std::string& name) {
  return settings.contains(name) ? name + " " + word_of(settings[name]) : "no " + name;
}

/// What differs: "epochs 5 and not epochs 3".
std::string difference(const Json& now, const Json& before) {
  for (const Json* each : {&now, &before})
    for (const auto& [name, value] : each->items())
      if (!now.contains(name) || !before.contains(name) || !same(now[name], before[name]))
        return described(now, name) + " and not " + described(before, name);
  return "other settings";
}

/// The settings with a length of before where their own is larger.
Json as_long_as(Json now, const Json& before) {
  for (const char* const length : length_settings) {
    if (!now.contains(length) || !before.contains(length)) continue;
    const auto own = number_from(word_of(now[length])), earlier = number_from(word_of(before[length]));
    if (own && earlier && *own > *earlier) now[length] = before[length];
  }
  return now;
}

/// In float, studies have always been kept without their scalar type.
constexpr const char* unnamed_scalar = "float";

Json kept_json(const Study& study, size_t smoke, const std::string& scalar) {
  Json combinations = Json::object();
  for (const Combination& each : study.combinations) combinations[each.name] = json_of(each.settings);
  Json json{{"study", std::filesystem::path(study.file).stem().string()},
            {"experiment", study.experiment},
            {"settings", json_of(study.settings)},
            {"threads", study.threads},
            {"smoke", smoke},
            {"combinations", combinations}};
  if (scalar != unnamed_scalar) json["scalar"] = scalar;
  return json;
}

}  // namespace

std::string kept_of(const Study& study, size_t smoke) {
  return kept_json(study, smoke, scalar_name).dump(2) + '\n';
}

std::string merged_with_kept(const Study& study, std::optional<size_t> smoke, const std::string& kept_file,
                             const std::string& kept, Lengths lengths) {
  Json now;
  try {
    const Json before = Json::parse(kept);
    const auto scalar = before.value<std::string>("scalar", unnamed_scalar);
    now = kept_json(study, smoke.value_or(0), scalar);
    if (!smoke) now["smoke"] = before.at("smoke");
    const auto refuse = [&](const std::string& what) {
      fail<DataError>(study.file, ": ", what, " in ", kept_file,
                      "; put it back, or name another folder with --out");
    };
    for (const char* const key : {"experiment", "threads", "smoke"})
      if (!same(now.at(key), before.at(key)))
        refuse(difference({{key, now.at(key)}}, {{key, before.at(key)}}));
    const Json &all = now.at("settings"), &earlier = before.at("settings");
    const Json comparable = lengths == Lengths::may_grow ? as_long_as(all, earlier) : all;
    if (!same(comparable, earlier)) refuse(difference(comparable, earlier));
    for (const auto& [name, settings] : before.at("combinations").items()) {
      if (!now["combinations"].contains(name))
        now["combinations"][name] = settings;
      else if (!same(now["combinations"][name], settings))
        refuse(name + " has " + difference(now["combinations"][name], settings));
    }
    if (smoke && scalar != scalar_name)
      fail<DataError>(study.file, ": ", kept_file, " is of runs in ", scalar, ", and this program is in ",
                      scalar_name, "; go on with the program built by make REAL=", scalar,
                      ", or name another folder with --out");
  } catch (const nlohmann::json::exception& problem) {
    fail<DataError>(kept_file, ": is damaged (", problem.what(), "); name another folder with --out");
  }
  return now.dump(2) + '\n';
}

bool became_longer(const std::string& before, const std::string& now) {
  return !same(Json::parse(before).at("settings"),
               Json::parse(now).at("settings"));  // nothing else may change
}

}  // namespace lamina
