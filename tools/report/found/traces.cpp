#include "tools/report/found/traces.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/error.h"
#include "tools/flags/field.h"
#include "tools/results/norm_table.h"
#include "tools/results/palette.h"

namespace lamina {

namespace {

std::string field(const Csv& csv, size_t row, const std::string& column) {
  const auto place = csv.find(column);
  return place ? csv.rows[row][*place] : std::string();
}

/// A setting of the run, or else the column's value in these rows.
std::string value_of(const Trace& trace, const std::string& name) {
  const std::string setting = setting_of(*trace.run, name);
  return setting.empty() && !trace.rows.empty() ? field(*trace.csv, trace.rows[0], name) : setting;
}

/// "layer norm, gain 0.1": the norm, and whatever else tells this trace from others.
std::string label_of(const Exhibit& exhibit, const Trace& trace) {
  std::string label = trace.norm.empty() ? trace.run->path : title_of(trace.norm);
  for (const auto& [name, phrase] : exhibit.distinctions)
    if (const std::string value = value_of(trace, name); !value.empty())
      label.append(", ").append(phrase).append(value);
  return label;
}

/// The rows that an exhibit looks at.
std::vector<size_t> rows_for(const Exhibit& exhibit, const Csv& csv) {
  std::vector<size_t> rows(csv.rows.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  const auto place = csv.find(exhibit.largest);
  if (!place) return rows;
  const auto number = [&](size_t row) { return number_in(csv.rows[row][*place]); };
  double largest = -std::numeric_limits<double>::infinity();
  for (const size_t row : rows) largest = std::max(largest, number(row));
  std::erase_if(rows, [&](size_t row) { return number(row) != largest; });
  return rows;
}

/// Those rows, apart by norm, facet and every distinction that is a column; in the order of the file.
std::vector<Trace> split(const Exhibit& exhibit, const FoundRun& run, const Csv& csv) {
  std::vector<Trace> traces;
  std::map<std::string, size_t> places;
  for (const size_t row : rows_for(exhibit, csv)) {
    std::string key = field(csv, row, exhibit.group) + '\n' + field(csv, row, exhibit.facet.name);
    for (const Distinction& distinction : exhibit.distinctions)
      key += '\n' + field(csv, row, distinction.name);
    const auto [place, is_new] = places.try_emplace(key, traces.size());
    if (is_new)
      traces.push_back(
          {.run = &run,
           .csv = &csv,
           .norm = exhibit.group.empty() ? setting_of(run, "norm") : field(csv, row, exhibit.group)});
    std::vector<size_t>& rows = traces[place->second].rows;
    const std::string now = field(csv, row, exhibit.end_of);
    if (!exhibit.end_of.empty() && !rows.empty() && now == field(csv, rows.back(), exhibit.end_of))
      rows.pop_back();
    rows.push_back(row);
  }
  return traces;
}

/// The traces of one run. One that diverged before it had a row of the file has one without rows: nothing to draw, but not to
/// be forgotten among its seeds.
std::vector<Trace> traces_in(const Exhibit& exhibit, const FoundRun& run) {
  static const Csv empty;
  const auto file = run.files.find(exhibit.file);
  std::vector<Trace> traces =
      file == run.files.end() ? std::vector<Trace>() : split(exhibit, run, file->second);
  if (traces.empty() && run.diverged)
    traces.push_back({.run = &run, .csv = &empty, .norm = setting_of(run, "norm")});
  return traces;
}

/// The settings that make a run what it is, but for its seed.
std::vector<std::pair<std::string, SettingValue>> settings_but_seed(const FoundRun& run) {
  auto entries = run.config->settings.entries();
  std::erase_if(entries, [](const auto& entry) { return entry.first == "seed"; });
  return entries;
}

/// Of the oldest runs it is not known.
bool may_be_same_data(const FoundRun& a, const FoundRun& b) {
  return a.data_digest.empty() || b.data_digest.empty() || a.data_digest == b.data_digest;
}

/// Whether nothing but their seeds tells two traces apart. Presets and built-in data may be other ones in another version.
bool only_seeds_differ(const Trace& a, const Trace& b) {
  const auto made = [](const Trace& trace) {
    const RunConfig& config = *trace.run->config;
    return std::tie(config.experiment, config.version, config.scalar, config.ranks);
  };
  return a.run != b.run && a.run->config && b.run->config && a.facet == b.facet && a.label == b.label &&
         made(a) == made(b) && may_be_same_data(*a.run, *b.run) &&
         setting_of(*a.run, "seed") != setting_of(*b.run, "seed") &&
         settings_but_seed(*a.run) == settings_but_seed(*b.run);
}

/// Traces of equal settings become one, of as many seeds.
std::vector<Trace> collapse_seeds(const std::vector<Trace>& all) {
  std::vector<Trace> kept;
  for (const Trace& trace : all) {
    const auto place = std::ranges::find_if(kept, [&](const Trace& other) {
      return std::ranges::all_of(other.singles(),
                                 [&](const Trace& single) { return only_seeds_differ(single, trace); });
    });
    if (place == kept.end()) {
      kept.push_back(trace);
    } else {
      if (place->seeds.empty()) place->seeds.push_back(Trace(*place));
      place->seeds.push_back(trace);
    }
  }
  for (Trace& trace : kept)
    if (!trace.seeds.empty()) trace.label += text(", ", trace.seeds.size(), " seeds");
  return kept;
}

/// "synthetic data, small preset": what a run trained on, and how much of it.
std::string kind_of(const FoundRun& run) {
  const std::string part = part_of_data(run);
  return text(data_words(run), setting_of(run, "preset") == "small" ? ", small preset" : "",
              part.empty() ? "" : ", " + part);
}

/// Where a facet has runs on different data, or of different presets, each label says which.
void name_kinds(const Exhibit& exhibit, std::vector<Trace>& traces) {
  std::map<std::string, std::set<std::string>> kinds;  // by facet
  if (!exhibit.on_data || !exhibit.study.empty()) return;
  for (const Trace& trace : traces) kinds[trace.facet].insert(kind_of(*trace.run));
  for (Trace& trace : traces)
    if (kinds[trace.facet].size() > 1) trace.label += " (" + kind_of(*trace.run) + ')';
}

/// The name whose colour a norm has: its own, that of its first word ("layer" of "layer with momentum"), or none.
std::string look_of(const std::string& norm) {
  for (const std::string& name : {norm, norm.substr(0, norm.find(' '))})
    if (color_of(name) >= 0) return name;
  return {};
}

/// Gives every trace a label of its own in its facet, a colour, and a dash for each further label of its colour.
void tell_apart(std::vector<Trace>& traces) {
  std::map<std::pair<std::string, std::string>, int> labels;
  std::map<std::string, std::vector<std::string>> of_look;  // the labels, whose places are the dashes
  std::map<std::string, size_t> plain;                      // by facet
  for (const Trace& trace : traces) ++labels[{trace.facet, trace.label}];
  for (Trace& trace : traces) {
    if (labels[{trace.facet, trace.label}] > 1) trace.label += text(" (", trace.run->path, ')');
    trace.look = look_of(trace.norm);
    if (trace.look.empty()) trace.look = text("plain-", plain[trace.facet]++ % plain_colors);
    trace.dash = static_cast<int>(place_of(of_look[trace.look], trace.label));
  }
}

}  // namespace

std::string setting_of(const FoundRun& run, const std::string& name) {
  return run.config ? run.config->settings.word(name) : "";
}

std::string data_words(const FoundRun& run) {
  if (!run.config) return "data not recorded";
  const std::string data = setting_of(run, "data");
  return data.empty() ? "synthetic data" : "data: " + data;
}

std::string part_of_data(const FoundRun& run) {
  if (const std::string smoke = setting_of(run, "smoke"); number_in(smoke) > 0)
    return "cut down by LAMINA_SMOKE=" + smoke;
  const std::string count = setting_of(run, "train_on");
  return number_in(count) > 0 ? "trained on " + count + " alone" : "";
}

std::vector<double> Trace::column(const std::string& name) const {
  std::vector<double> numbers;
  const auto place = csv->find(name);
  if (!place) return numbers;
  for (const size_t row : rows) numbers.push_back(number_in(csv->rows[row][*place]));
  return numbers;
}

bool shows(const Exhibit& exhibit, const FoundStudy& study) {
  return !exhibit.study.empty() && exhibit.study == study.name && exhibit.experiment == study.experiment;
}

bool belongs(const FoundRun& run, const Exhibit& exhibit) {
  if (run.study || !exhibit.study.empty()) return run.study && shows(exhibit, *run.study);
  if (exhibit.experiment.empty() && exhibit.file.empty())
    return std::ranges::any_of(
        run.pictures, [&](const FoundPicture& picture) { return fits(exhibit.pictures, picture.file); });
  if (exhibit.experiment.empty()) return run.files.contains(exhibit.file);
  return run.config && run.config->experiment == exhibit.experiment;
}

size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

std::vector<std::string> facets_of(const std::vector<Trace>& traces) {
  std::vector<std::string> facets;
  for (const Trace& trace : traces) place_of(facets, trace.facet);
  return facets;
}

std::vector<Trace> traces_of(const Exhibit& exhibit, const std::vector<FoundRun>& runs) {
  std::vector<Trace> all;
  for (const FoundRun& run : runs) {
    if (!belongs(run, exhibit)) continue;
    for (Trace& trace : traces_in(exhibit, run)) {
      trace.label = label_of(exhibit, trace);
      const std::string value = value_of(trace, exhibit.facet.name);
      if (!value.empty()) trace.facet = exhibit.facet.phrase + value;
      all.push_back(std::move(trace));
    }
  }
  std::ranges::stable_sort(all, {}, [facets = facets_of(all)](const Trace& trace) {
    return std::pair(std::ranges::find(facets, trace.facet) - facets.begin(), rank_of(trace.norm));
  });
  name_kinds(exhibit, all);
  std::vector<Trace> kept = collapse_seeds(all);
  tell_apart(kept);
  return kept;
}

}  // namespace lamina
