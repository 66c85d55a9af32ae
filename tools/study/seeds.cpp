#include "tools/study/seeds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "models/run/metrics.h"

namespace lamina {

namespace {

using Json = nlohmann::ordered_json;

/// The text "128" is a number for a study, which names its runs "batch128". A text that the number would not be written
/// as, such as the folder 007 or 1.10, stays one.
Json json_of(const SettingValue& value) {
  if (const auto* const word = std::get_if<std::string>(&value)) {
    if (const auto whole = number_from<std::int64_t>(*word); whole && text_of(*whole) == *word) return *whole;
    if (const auto number = number_from(*word); number && std::isfinite(*number) && text_of(*number) == *word)
      return *number;
  }
  return std::visit([](const auto& content) { return Json(content); }, value);
}

bool all_have(const std::vector<Settings>& variants, const std::pair<std::string, SettingValue>& entry) {
  return std::ranges::all_of(variants, [&](const Settings& each) {
    return std::ranges::find(each.entries(), entry) != each.entries().end();
  });
}

}  // namespace

Study study_of(const SeedsRequest& request) {
  constexpr std::size_t largest = std::numeric_limits<std::int64_t>::max();
  if (request.seeds > 0 && request.first > largest - (request.seeds - 1))
    fail<UsageError>("--seeds: ", request.seeds, " from --seed ", request.first, " on go beyond ", largest,
                     ", the largest seed; give a smaller --seed");
  Json settings = Json::object(), variants = Json::array(), seeds = Json::array();
  for (const auto& [name, value] : request.settings.entries()) settings[name] = json_of(value);
  for (const Settings& variant : request.variants) {
    Json own = Json::object();
    for (const auto& entry : variant.entries())
      (entry.first != "norm" && all_have(request.variants, entry) ? settings : own)[entry.first] =
          json_of(entry.second);
    variants.push_back(own);
  }
  for (std::size_t i = 0; i < request.seeds; ++i) seeds.push_back(request.first + i);
  const Json study{{"experiment", request.experiment},
                   {"settings", settings},
                   {"variants", variants},
                   {"seeds", seeds},
                   {"threads", request.threads}};
  return study_from("lamina " + request.experiment + " --seeds", study.dump());
}

}  // namespace lamina
