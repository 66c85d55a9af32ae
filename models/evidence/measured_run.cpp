#include "models/evidence/measured_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/evidence/interval.h"
#include "models/evidence/kept_numbers.h"
#include "models/recording/record.h"
#include "models/run/data_note.h"
#include "models/run/length.h"

namespace lamina {

namespace {

bool has_column(const Table& table, std::string_view name) {
  return std::ranges::find(table.columns, name) != table.columns.end();
}

/// A run that is at work may not have written its first line yet.
Table table_if_any(const std::string& path) {
  if (!exists(path)) return {};
  const std::string content = read_file(path);
  return content.find('\n') == std::string::npos ? Table() : table_of(path, content);
}

/// What makes a run less than the experiment that the paper did.
std::string reduction_of(const Settings& settings) {
  std::string all;
  if (settings.has("preset") && settings.get<std::string>("preset") != "paper")
    all += "; preset " + settings.get<std::string>("preset");
  if (settings.has("smoke") && settings.get<std::int64_t>("smoke") > 0)
    all += text("; cut down by LAMINA_SMOKE=", settings.get<std::int64_t>("smoke"));
  return all;
}

/// The mean over the layers of a layer's mean over its rows: a recurrent layer has one for each time step, and weighs as much
/// as any other. NaN where no layer has a number.
double mean_over_layers(const std::map<std::string, std::vector<double>>& layers) {
  std::vector<double> means;
  means.reserve(layers.size());
  for (const auto& [layer, values] : layers) means.push_back(moments_of(values).mean);
  return means.empty() ? std::nan("") : moments_of(means).mean;
}

/// A row for each recorded step, a column for each quantity that the study names. Record step s looks at the model that s - 1
/// updates made, and metrics.csv counts the updates that are made.
Table recorded_of(const Study& study, const std::string& path) {
  std::set<std::string> named;
  for (const auto& [place, metric] : study.named_metrics()) named.insert(metric);
  // By step, quantity and layer.
  std::map<std::uint64_t, std::map<std::string, std::map<std::string, std::vector<double>>>> values;
  std::set<std::string> quantities;
  for (const RecordRow& row : read_record(path)) {
    if (!named.contains(row.quantity)) continue;
    quantities.insert(row.quantity);
    auto& layers = values[row.step][row.quantity];
    if (!std::isnan(row.value)) layers[row.layer].push_back(row.value);
  }
  Table table{.columns = {"step"}, .rows = {}};
  table.columns.insert(table.columns.end(), quantities.begin(), quantities.end());
  for (auto& [step, own] : values) {
    table.rows.push_back({static_cast<double>(step) - 1});
    for (const std::string& quantity : quantities)
      table.rows.back().push_back(mean_over_layers(own[quantity]));
  }
  return table;
}

/// A table that lost its last rows would pass for a run that ended earlier.
void require_all_rows(const MeasuredRun& run, const std::string& folder) {
  if (run.end.outcome == RunEnd::finished && run.curves.rows.size() < run.end.rows)
    fail<DataError>(folder, "/metrics.csv: has ", run.curves.rows.size(), " of its ", run.end.rows,
                    " rows; restore it, or remove outcome.json beside it, and the study restores it from the "
                    "run's state");
}

MeasuredRun read_run(const Study& study, const StudyRun& run, const std::string& folder) {
  MeasuredRun measured{.run = run, .end = read_end(folder)};
  if (!exists(folder + "/config.json")) return measured;
  const RunFolder opened = RunFolder::open(folder);
  if (!longer_than(opened.config().settings, study.settings_of(run)).entries().empty())
    measured.end.outcome = RunEnd::waiting;  // it ended where the study ended then
  if (!measured.end.data.empty()) measured.data = measured.end.data + reduction_of(opened.config().settings);
  measured.files = data_note_of(folder).digest;
  measured.curves = table_if_any(folder + "/metrics.csv");
  require_all_rows(measured, folder);
  measured.test = table_if_any(folder + "/test.csv");
  if (exists(folder + "/record.csv")) measured.recorded = recorded_of(study, folder + "/record.csv");
  return measured;
}

/// One run that cannot be read stops no other.
MeasuredRun read_any_run(const Study& study, const StudyRun& run, const std::string& folder) {
  try {
    return read_run(study, run, folder);
  } catch (const DataError& problem) {
    return {.run = run, .end = {.outcome = RunEnd::failed, .reason = problem.what(), .damaged = true}};
  }
}

bool better(double a, double b, bool highest) { return highest ? a > b : a < b; }

/// The first row with the best finite value.
std::optional<size_t> best_row(const std::vector<double>& values, bool highest) {
  std::optional<size_t> best;
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i]) && (!best || better(values[i], values[*best], highest))) best = i;
  return best;
}

/// The row of `of` after as many updates as this row of `from`, or the last one before it. Nothing where `of` begins later.
std::optional<size_t> same_time(const Table& from, size_t row, const Table& of) {
  if (&from == &of) return row;
  const double step = from.column("step")[row];
  const std::vector<double> steps = of.column("step");
  const auto after = std::ranges::upper_bound(steps, step);
  if (after == steps.begin()) return {};
  return static_cast<size_t>(after - steps.begin()) - 1;
}

/// The table with the metric, which must be more than the one number of a test.
const Table& curve_of(const MeasuredRun& run, const std::string& metric, const Study& study) {
  const Table* const table = run.table_with(metric);
  if (table == &run.test) refuse_course(study, metric);
  return *table;
}

}  // namespace

const Table* MeasuredRun::table_with(std::string_view metric) const {
  for (const Table* table : {&curves, &recorded, &test})
    if (has_column(*table, metric)) return table;
  return nullptr;
}

std::vector<double> MeasuredRun::values(std::string_view metric) const {
  const Table* const table = table_with(metric);
  return table == nullptr ? std::vector<double>() : table->column(metric);
}

std::vector<MeasuredRun> measured_runs(const Study& study, const std::string& folder) {
  const KeptNumbers kept = kept_numbers(folder);
  std::vector<MeasuredRun> all;
  for (const StudyRun& run : study.runs()) {
    const std::string own = folder + '/' + run.name;
    const auto found = kept.find(run.name);
    if (found == kept.end() || exists(own)) {
      all.push_back(read_any_run(study, run, own));
      continue;
    }
    all.push_back(found->second);
    all.back().run = run;
  }
  return all;
}

std::vector<std::string> metrics_of(const std::vector<MeasuredRun>& runs) {
  std::vector<std::string> all;
  for (const MeasuredRun& run : runs)
    for (const Table* table : {&run.curves, &run.recorded, &run.test})
      // The first column names the period, "epoch" or "validation".
      for (size_t i = 1; i < table->columns.size(); ++i)
        if (const std::string& name = table->columns[i];
            name != "step" && name != "seconds" && std::ranges::find(all, name) == all.end())
          all.push_back(name);
  return all;
}

void require_metrics(const Study& study, const std::vector<MeasuredRun>& runs) {
  if (std::ranges::none_of(runs, [](const MeasuredRun& run) { return run.end.outcome == RunEnd::finished; }))
    return;
  const std::vector<std::string> all = metrics_of(runs);
  for (const auto& [place, metric] : study.named_metrics())
    if (std::ranges::find(all, metric) == all.end())
      fail<DataError>(study.file, ": ", place, ": '", metric, "' is no metric of these runs; there are ",
                      joined(all),
                      study.settings.has("record") ? "; what is recorded is in record.csv of a run" : "");
}

void refuse_course(const Study& study, const std::string& metric) {
  fail<DataError>(study.file, ": needs the course of '", metric,
                  "', which runs measure once, in their test; name a metric of metrics.csv");
}

void require_metric(const Study& study, const MeasuredRun& run, const std::string& metric, const char* key) {
  if (run.end.outcome == RunEnd::finished && !run.has(metric))
    fail<DataError>(study.file, ": '", key, "' names '", metric, "', and ", run.run.name, " has only ",
                    joined(metrics_of({run})), "; name one of them");
}

std::optional<double> taken(const MeasuredRun& run, const std::string& metric, const Take& take,
                            const Study& study) {
  if (!run.has(metric)) return {};
  const std::vector<double> values = run.values(metric);
  if (values.empty()) return {};
  std::optional<double> number;
  if (take.kind == Take::Kind::last) number = values.back();
  if (take.kind == Take::Kind::best)
    if (const auto row = best_row(values, study.best_is_highest(metric))) number = values[*row];
  if (take.kind == Take::Kind::mean_of_last) {
    if (take.count > values.size())
      fail<DataError>(study.file, ": '", take.words(), "' of '", metric, "': ", run.run.name, " has only ",
                      values.size(), "; take the mean of fewer");
    number = moments_of(std::span(values).last(take.count)).mean;
  }
  if (take.kind == Take::Kind::where_best && run.has(take.other)) {
    const Table &of = curve_of(run, metric, study), &where = curve_of(run, take.other, study);
    if (const auto row = best_row(where.column(take.other), study.best_is_highest(take.other)))
      if (const auto here = same_time(where, *row, of)) number = values[*here];
  }
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<double> updates_to_reach(const MeasuredRun& run, const std::string& metric, double goal,
                                       const Study& study) {
  if (!run.has(metric)) return {};
  const Table& table = curve_of(run, metric, study);
  const std::vector<double> values = table.column(metric), steps = table.column("step");
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] == goal || better(values[i], goal, study.best_is_highest(metric))) return steps[i];
  return {};
}

}  // namespace lamina
