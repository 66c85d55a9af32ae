#include "models/evidence/study/study.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/number.h"
#include "models/evidence/study/study_json.h"
#include "models/run/metrics.h"

namespace lamina {

namespace {

using Json = StudyJson::Json;

constexpr size_t largest_file = size_t{1} << 20;
// More is a mistake, or an attack on whoever reads the file.
constexpr size_t most_runs = 10'000, most_seeds = 1000, most_claims = 100;

/// Reads the parts of one study.
class Reader : StudyJson {
 public:
  Reader(const std::string& path, std::string_view content) : StudyJson(path), json_(parse(content)) {}

  Study study() const;

 private:
  std::vector<std::string> words(const std::string& key) const;
  std::vector<Settings> variants(const Settings& shared) const;
  std::vector<Settings> grid(const Json& lists) const;
  std::vector<Combination> combinations(const Settings& shared) const;
  std::vector<std::int64_t> seeds() const;
  void read_against(Study& study) const;
  void read_choose_seeds(Study& study) const;
  std::vector<ValuesOf> values_of(const std::string& key) const;
  void read_range(Study& study) const;
  Claim claim(const Json& json, const Study& study, size_t number) const;

  const Json json_;
};

/// One text or a list of them; nothing where there is no such key.
std::vector<std::string> Reader::words(const std::string& key) const {
  if (!json_.contains(key)) return {};
  if (json_[key].is_string()) return {word(json_[key], key)};
  require_list(json_[key], key);
  std::vector<std::string> all;
  for (const Json& value : json_[key]) {
    all.push_back(word(value, key));
    if (std::ranges::count(all, all.back()) > 1)
      wrong("'", key, "' holds ", all.back(), " twice; leave one out");
  }
  return all;
}

/// {"norm": ["none", "layer"], "batch": [128, 4]}: each value with each, the last list varying fastest.
std::vector<Settings> Reader::grid(const Json& lists) const {
  require_few(lists, "variants");
  std::vector<Settings> all(1);
  for (const auto& [name, values] : lists.items()) {
    require_list(values, "variants: " + name);
    if (all.size() * values.size() > most_runs) wrong("'variants' are more than ", most_runs, "; make fewer");
    std::vector<Settings> longer;
    for (const Settings& before : all)
      for (const Json& value : values) set(longer.emplace_back(before), name, value, "'variants'");
    all = std::move(longer);
  }
  return all;
}

/// A grid, or a list of them in which single values may stand for lists of one.
std::vector<Settings> Reader::variants(const Settings& shared) const {
  if (!json_.contains("variants")) return {Settings()};
  const Json& json = json_["variants"];
  Json parts = json.is_object() ? Json::array({json}) : json;
  require_list(parts, "variants");
  std::vector<Settings> all;
  for (Json& part : parts) {
    if (!part.is_object()) wrong("'variants' holds something that is no {...}; write {\"flag\": value}");
    for (auto& [name, value] : part.items()) {
      if (!value.is_array() && !json.is_object()) value = Json::array({value});
      if (shared.has(name)) wrong("'", name, "' is in 'settings' and in 'variants'; leave it in one of them");
    }
    for (Settings& each : grid(part)) all.push_back(std::move(each));
    if (all.size() > most_runs) wrong("'variants' are more than ", most_runs, "; make fewer");
  }
  return all;
}

/// A setting as a part of a name: "layer", "batch4", "tied", "no-tied".
std::string named(const std::string& setting, const SettingValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) {
    std::string safe = *word;
    std::ranges::replace_if(
        safe,
        [](char c) {
          return !std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-';
        },
        '_');
    return safe;
  }
  if (const auto* flag = std::get_if<bool>(&value)) return (*flag ? "" : "no-") + setting;
  return setting + text_of(value);
}

std::vector<Combination> Reader::combinations(const Settings& shared) const {
  std::vector<Combination> all;
  std::set<std::string> names;
  std::set<std::set<std::string>> seen;  // as flags: in any order, a number or a text of it
  for (const Settings& settings : variants(shared)) {
    std::string name;
    std::set<std::string> flags;
    for (const auto& [key, value] : settings.entries()) {
      const auto number = number_from(text_of(value));
      flags.insert(text(key, '=', number ? number_text(*number) : text_of(value)));
    }
    for (const auto& [key, value] : settings.entries()) name += (name.empty() ? "" : "-") + named(key, value);
    if (name.empty()) name = "run";
    if (name.starts_with('.')) name.front() = '_';
    if (!names.insert(name).second)
      wrong("two variants would have the name ", name, "; leave one of them out");
    if (!seen.insert(flags).second)
      wrong("the variant ", name, " has the settings of another one; leave one of them out");
    all.push_back({.name = name, .settings = settings});
  }
  return all;
}

std::vector<std::int64_t> Reader::seeds() const {
  if (!json_.contains("seeds")) return {1};
  require_list(json_["seeds"], "seeds");
  if (json_["seeds"].size() > most_seeds) wrong("'seeds' are more than ", most_seeds, "; make fewer");
  std::vector<std::int64_t> all;
  for (const Json& value : json_["seeds"]) {
    if (!value.is_number_unsigned() || !std::in_range<std::int64_t>(value.get<std::uint64_t>()))
      wrong("'seeds' holds ", value.dump(), ", which is no whole number from 0; write [1, 2, 3]");
    all.push_back(value.get<std::int64_t>());
    if (std::ranges::count(all, all.back()) > 1) wrong("'seeds' holds ", all.back(), " twice; leave one out");
  }
  return all;
}

Claim Reader::claim(const Json& json, const Study& study, size_t number) const {
  const std::string where = text("claim ", number, ": ");
  if (!json.is_object()) wrong(where, "is no {...}; see models/evidence/README.md");
  require_keys(json, where, {"claim", "metric", "take", "lower", "higher", "faster", "than", "by", "times"});
  Claim claim;
  if (json.contains("claim")) claim.words = word(json["claim"], "claim");
  if (!json.contains("metric")) wrong(where, "'metric' is missing; name a column of metrics.csv");
  claim.metric = word(json["metric"], "metric");
  try {
    if (json.contains("take")) claim.take = Take::from(word(json["take"], "take"));
  } catch (const DataError&) {
    throw;
  } catch (const Error& problem) {
    wrong(where, "'take': ", problem.what());
  }
  size_t directions = 0;
  for (const auto& [key, direction] : {std::pair{"lower", Claim::lower}, std::pair{"higher", Claim::higher},
                                       std::pair{"faster", Claim::faster}})
    if (json.contains(key)) {
      claim.direction = direction;
      claim.subject = settings(json[key], key);
      ++directions;
    }
  if (directions != 1)
    wrong(where, "give one of 'lower', 'higher' and 'faster', with the settings of a variant");
  claim.for_the_better = claim.direction == Claim::faster ||
                         (claim.direction == Claim::higher) == study.best_is_highest(claim.metric);
  if (!json.contains("than")) wrong(where, "'than' is missing; give the settings of the other variant");
  claim.other = settings(json["than"], "than");
  if (claim.direction == Claim::faster && (json.contains("take") || json.contains("by")))
    wrong(where, "'faster' compares updates by their ratio; leave out 'take' and 'by', and give 'times'");
  if (json.contains("by") && json.contains("times")) wrong(where, "give 'by' or 'times', not both");
  claim.ratio = json.contains("times") || claim.direction == Claim::faster;
  claim.least = claim.ratio ? 1 : 0;
  for (const char* const key : {"by", "times"})
    if (json.contains(key)) {
      if (!json[key].is_number()) wrong(where, "'", key, "' is no number; correct it");
      claim.least = json[key].get<double>();
    }
  if (claim.ratio && !(claim.least > 0)) wrong(where, "'times' is not above 0; 1 means equal");
  for (const Settings* side : {&claim.subject, &claim.other}) {
    const size_t matches = study.matching(*side).size();
    std::string list;
    for (const auto& [key, value] : side->entries())
      list += (list.empty() ? "" : ", ") + key + " " + text_of(value);
    if (matches == 0) wrong(where, "no variant has ", list, "; correct it or add the variant");
    if (matches > 1 && study.choose.empty())
      wrong(where, matches, " variants have ", list.empty() ? "{}" : list,
            "; name more of their settings, or give \"choose\": a metric by which the best of them is taken");
  }
  return claim;
}

/// "against": "lr", "limit": {"metric": "valid_bits", "worst": 3.5}
void Reader::read_against(Study& study) const {
  if (json_.contains("limit")) {
    const Json& limit = json_["limit"];
    if (!limit.is_object() || !limit.contains("metric") || !limit.contains("worst") ||
        !limit["worst"].is_number())
      wrong("'limit' is no {\"metric\": NAME, \"worst\": NUMBER}; correct it");
    require_keys(limit, "'limit': ", {"metric", "worst"});
    study.limit = {.metric = word(limit["metric"], "limit: metric"), .worst = limit["worst"].get<double>()};
  }
  if (!json_.contains("against")) return;
  study.against = word(json_["against"], "against");
  for (const Combination& each : study.combinations) try {
      each.settings.get<double>(study.against);
    } catch (const DataError&) {
      wrong("'against': the variant ", each.name, " has no number '", study.against,
            "'; name a setting of which all have one");
    }
  if (study.against == study.panels)
    wrong("'against' and 'panels' are both '", study.panels, "'; change one");
}

/// "levels": {"test_bound": [100, 95, 90, 85]}
std::vector<ValuesOf> Reader::values_of(const std::string& key) const {
  if (!json_.contains(key)) return {};
  const Json& json = json_[key];
  if (!json.is_object()) wrong("'", key, "' is no {...}; write {\"metric\": [95, 100]}");
  require_few(json, key);
  std::vector<ValuesOf> all;
  for (const auto& [metric, values] : json.items()) {
    const std::string where = text(key, ": ", metric);
    require_list(values, where);
    if (values.size() > most_settings) wrong("'", where, "' are more than ", most_settings, "; make fewer");
    all.push_back({.metric = metric, .values = {}});
    for (const Json& value : values) {
      if (!value.is_number()) wrong("'", where, "' holds ", value.dump(), ", which is no number; correct it");
      all.back().values.push_back(value.get<double>());
    }
  }
  return all;
}

/// "range": {"test_bound": [80, 100]}
void Reader::read_range(Study& study) const {
  study.range = values_of("range");
  for (const auto& [metric, ends] : study.range) {
    const bool log = std::ranges::find(study.log, metric) != study.log.end();
    if (ends.size() != 2 || !(ends[0] < ends[1]) || (log && ends[0] <= 0))
      wrong("'range: ", metric, "' is no [LOW, HIGH]", log ? " above 0" : "", "; correct it");
  }
}

/// "choose_seeds": 2. Without claims there would be nothing to train with the other seeds.
void Reader::read_choose_seeds(Study& study) const {
  if (!json_.contains("choose_seeds")) return;
  const Json& count = json_["choose_seeds"];
  if (study.choose.empty() || study.claims.empty())
    wrong(
        "'choose_seeds' needs 'choose', a metric to choose by, and 'claims', which compare what was chosen");
  if (!count.is_number_unsigned() || count.get<std::uint64_t>() < 1 ||
      count.get<std::uint64_t>() >= study.seeds.size())
    wrong("'choose_seeds' is no whole number from 1 to one less than the ", study.seeds.size(),
          " seeds; leave it out, and all seeds train every variant");
  study.choose_seeds = count.get<size_t>();
}

Study Reader::study() const {
  require_keys(json_, "",
               {"question", "experiment", "settings", "variants", "seeds", "threads", "metrics", "log",
                "higher_is_better", "panels", "choose", "choose_seeds", "against", "limit", "levels", "range",
                "claims"});
  Study study;
  study.file = path();
  if (!json_.contains("experiment"))
    wrong("'experiment' is missing; name a command of lamina list, such as mnist");
  study.experiment = word(json_["experiment"], "experiment");
  if (json_.contains("question")) study.question = word(json_["question"], "question");
  if (json_.contains("settings")) study.settings = settings(json_["settings"], "settings");
  study.combinations = combinations(study.settings);
  study.seeds = seeds();
  if (study.combinations.size() * study.seeds.size() > most_runs)
    wrong("these are more than ", most_runs, " runs; make fewer");
  if (json_.contains("threads")) {
    const Json& threads = json_["threads"];
    if (!threads.is_number_unsigned() || threads.get<std::uint64_t>() < 1 ||
        threads.get<std::uint64_t>() > 1024)
      wrong("'threads' is no whole number from 1 to 1024; leave it out for 1");
    study.threads = threads.get<int>();
  }
  study.metrics = words("metrics");
  study.log = words("log");
  study.higher = words("higher_is_better");
  if (json_.contains("choose")) study.choose = word(json_["choose"], "choose");
  if (json_.contains("panels")) {
    study.panels = word(json_["panels"], "panels");
    for (const Combination& each : study.combinations)
      if (!each.settings.has(study.panels))
        wrong("'panels': the variant ", each.name, " has no setting '", study.panels,
              "'; name one that all have");
  }
  read_against(study);
  study.levels = values_of("levels");
  read_range(study);
  if (json_.contains("claims")) {
    require_list(json_["claims"], "claims");
    if (json_["claims"].size() > most_claims) wrong("'claims' are more than ", most_claims, "; make fewer");
    for (const Json& each : json_["claims"])
      study.claims.push_back(claim(each, study, study.claims.size() + 1));
  }
  read_choose_seeds(study);
  return study;
}

}  // namespace

Study study_from(const std::string& path, std::string_view content) { return Reader(path, content).study(); }

Study read_study(const std::string& path) { return study_from(path, read_file(path, largest_file)); }

}  // namespace lamina
