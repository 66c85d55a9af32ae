#include "models/evidence/measured_run.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/evidence/interval.h"

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

MeasuredRun read_run(const StudyRun& run, const std::string& folder) {
  MeasuredRun measured{.run = run, .end = read_end(folder)};
  if (!exists(folder + "/config.json")) return measured;
  measured.data = measured.end.data;
  measured.data += reduction_of(RunFolder::open(folder).config().settings);
  measured.curves = table_if_any(folder + "/metrics.csv");
  measured.test = table_if_any(folder + "/test.csv");
  return measured;
}

bool better(double a, double b, bool highest) { return highest ? a > b : a < b; }

/// The first row with the best finite value.
std::optional<size_t> best_row(const std::vector<double>& values, bool highest) {
  std::optional<size_t> best;
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i]) && (!best || better(values[i], values[*best], highest))) best = i;
  return best;
}

}  // namespace

bool MeasuredRun::has(std::string_view metric) const {
  return has_column(curves, metric) || has_column(test, metric);
}

std::vector<double> MeasuredRun::values(std::string_view metric) const {
  return has_column(curves, metric) ? curves.column(metric) : test.column(metric);
}

std::vector<MeasuredRun> measured_runs(const Study& study, const std::string& folder) {
  std::vector<MeasuredRun> all;
  for (const StudyRun& run : study.runs()) all.push_back(read_run(run, folder + '/' + run.name));
  return all;
}

std::vector<std::string> metrics_of(const std::vector<MeasuredRun>& runs) {
  std::vector<std::string> all;
  for (const MeasuredRun& run : runs)
    for (const Table* table : {&run.curves, &run.test})
      // The first column names the period, "epoch" or "validation".
      for (size_t i = 1; i < table->columns.size(); ++i)
        if (const std::string& name = table->columns[i];
            name != "step" && name != "seconds" && std::ranges::find(all, name) == all.end())
          all.push_back(name);
  return all;
}

std::optional<double> taken(const MeasuredRun& run, const std::string& metric, const Take& take,
                            const Study& study) {
  if (!run.has(metric)) return {};
  const std::vector<double> values = run.values(metric);
  if (values.empty()) return {};
  std::optional<double> number;
  if (take.kind == Take::last) number = values.back();
  if (take.kind == Take::best)
    if (const auto row = best_row(values, study.best_is_highest(metric))) number = values[*row];
  if (take.kind == Take::mean_of_last)
    number = moments_of(std::span(values).last(std::min(take.count, values.size()))).mean;
  if (take.kind == Take::where_best && run.has(take.other)) {
    const auto row = best_row(run.values(take.other), study.best_is_highest(take.other));
    if (row && *row < values.size()) number = values[*row];
  }
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<double> updates_to_reach(const MeasuredRun& run, const std::string& metric, double goal,
                                       const Study& study) {
  if (!has_column(run.curves, metric)) return {};
  const std::vector<double> values = run.curves.column(metric), steps = run.curves.column("step");
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] == goal || better(values[i], goal, study.best_is_highest(metric))) return steps[i];
  return {};
}

}  // namespace lamina
