#include "tools/study/tables/study_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/error.h"
#include "models/evidence/choice.h"
#include "models/evidence/interval.h"
#include "models/evidence/kept_numbers.h"
#include "tools/results/band.h"
#include "tools/results/result_folder.h"
#include "tools/results/variant_report.h"
#include "tools/study/tables/against.h"
#include "tools/study/tables/ends.h"
#include "tools/study/tables/levels.h"
#include "tools/study/tables/variant_look.h"

namespace lamina {

namespace {

/// The metrics that the study names, or all; none before something has been measured.
std::vector<std::string> shown_metrics(const Study& study, const std::vector<MeasuredRun>& runs) {
  const std::vector<std::string> all = metrics_of(runs);
  return study.metrics.empty() || all.empty() ? all : study.metrics;
}

// --- Claims

/// What the numbers of a claim's pairs are.
std::string measured_of(const Verdict& verdict) {
  const Claim& claim = verdict.claim;
  return claim.direction == Claim::faster ? text("updates to reach the best ", claim.metric, " of both")
                                          : text(claim.metric, " (", claim.take.words(), ")");
}

// --- Metrics

/// Median, mean and deviation, each in a cell; how many of the `finished` runs have a number, where not all do.
std::vector<std::string> moments_cells(const std::vector<double>& numbers, size_t finished) {
  if (numbers.empty()) return {"-", "-", "-"};
  const Moments moments = moments_of(numbers);
  return {text(cell(median_of(numbers)),
               numbers.size() < finished ? text(", ", numbers.size(), " of ", finished) : ""),
          cell(moments.mean), numbers.size() < 2 ? "-" : cell(moments.deviation)};
}

/// A row of numbers for each variant. Of runs that diverged only the count is there.
std::string metric_section(const Study& study, const std::vector<MeasuredRun>& runs,
                           const std::string& metric) {
  std::string rows;
  for (size_t i = 0; i < study.combinations.size(); ++i) {
    size_t finished = 0, diverged = 0;
    std::vector<double> last, best;
    for (const MeasuredRun* run : ended_runs(runs, i)) {
      ++(run->end.outcome == RunEnd::diverged ? diverged : finished);
      if (run->end.outcome == RunEnd::diverged) continue;
      if (const auto value = taken(*run, metric, {}, study)) last.push_back(*value);
      if (const auto value = taken(*run, metric, {.kind = Take::Kind::best}, study)) best.push_back(*value);
    }
    std::vector<std::string> cells{study.combinations[i].name, text(finished), text(diverged)};
    for (const auto& numbers : {last, best})
      std::ranges::copy(moments_cells(numbers, finished), std::back_inserter(cells));
    rows += markdown_row(cells);
  }
  return text("### ", metric, study.best_is_highest(metric) ? " (higher is better)" : "", "\n\n",
              table_with_head({"variant", "n", "diverged", "last: median", "mean", "deviation",
                               "best: median", "mean", "deviation"},
                              rows),
              '\n');
}

// --- Figure against updates

/// Without what each run measures once, in its test: a number is no curve.
std::vector<std::string> measured_again(std::vector<std::string> metrics,
                                        const std::vector<MeasuredRun>& runs) {
  std::erase_if(metrics, [&](const std::string& metric) {
    return std::ranges::all_of(runs, [&](const MeasuredRun& run) {
      const Table* const table = run.table_with(metric);
      return table == nullptr || table == &run.test;
    });
  });
  return metrics;
}

Panel metric_panel(const Study& study, const std::vector<MeasuredRun>& runs, const std::string& metric,
                   const std::string& title, const std::vector<size_t>& combinations, bool single) {
  Panel panel{.title = title, .x_label = "updates", .y_label = metric};
  panel.log_y = std::ranges::find(study.log, metric) != study.log.end();
  const std::vector<int> colors = colors_of(study, combinations);
  std::vector<Curve> singles;
  for (size_t i = 0; i < combinations.size(); ++i) {
    std::vector<Table> tables;
    Diverged diverged{.as_lowest = study.best_is_highest(metric)};
    for (const MeasuredRun& run : runs) {
      const Table* const table = run.table_with(metric);
      const bool lost = run.end.outcome == RunEnd::diverged;
      if (run.run.combination != combinations[i] || table == &run.test || (table == nullptr && !lost))
        continue;
      tables.push_back(table != nullptr ? *table : Table{.columns = {"step", metric}, .rows = {}});
      diverged.runs.push_back(lost);
    }
    panel.curves.push_back(median_curve(
        tables, "step", metric,
        {.title = title_in_panel(study, combinations[i]), .line = line_at(i), .color = colors[i]}, diverged));
    if (single)
      for (const Table& table : tables)
        singles.push_back(
            {.x = table.column("step"), .y = table.column(metric), .color = colors[i], .pale = true});
  }
  std::ranges::copy(singles, std::back_inserter(panel.curves));
  return panel;
}

/// The ends of the axes that the study gives.
std::vector<Panel> in_range(const Study& study, std::vector<Panel> panels) {
  for (Panel& panel : panels)
    for (const auto& [metric, ends] : study.range)
      if (metric == panel.y_label) {
        panel.y_min = ends[0];
        panel.y_max = ends[1];
      }
  return panels;
}

// --- Of each run

/// A row for each run: its settings, how it ended, the last and the best value of every metric.
std::string runs_csv(const Study& study, const std::vector<MeasuredRun>& runs) {
  const std::vector<std::string> keys = varied(study), metrics = metrics_of(runs);
  std::vector<std::string> header{"run"};
  for (const std::string& key : keys) header.push_back(key == "updates" ? "updates_asked_for" : key);
  for (const char* const column : {"seed", "outcome", "reason", "updates", "seconds", "peak_mb"})
    header.emplace_back(column);
  for (const std::string& metric : metrics) {
    header.push_back("last_" + metric);
    header.push_back("best_" + metric);
  }
  std::string all = joined(header) + '\n';
  for (const MeasuredRun& run : runs) {
    const auto last = [&](const char* column) {
      return run.curves.rows.empty() ? "0" : number_text(run.curves.column(column).back());
    };
    std::vector<std::string> row{run.run.name};
    for (const std::string& key : keys)
      row.push_back(field_of(study.combinations[run.run.combination].settings.word(key)));
    for (const std::string& value : {text(run.run.seed), name_of(run.end.outcome), field_of(run.end.reason),
                                     last("step"), last("seconds"), text(run.end.peak_bytes >> 20)})
      row.push_back(value);
    for (const std::string& metric : metrics)
      for (const Take::Kind kind : {Take::Kind::last, Take::Kind::best})
        row.push_back(number_text(taken(run, metric, {.kind = kind}, study).value_or(std::nan(""))));
    all += joined(row) + '\n';
  }
  return all;
}

}  // namespace

std::string claim_section(const Verdict& verdict, size_t number, const std::string& measured) {
  const Claim& claim = verdict.claim;
  std::string rows;
  for (const SeedPair& pair : verdict.pairs) {
    const auto value = [&](const std::optional<double>& number_of_run) {
      return number_of_run ? cell(*number_of_run) : std::string(claim.without);
    };
    std::string difference = "-";
    if (pair.subject && pair.other) {
      const double better = claim.direction == Claim::higher ? *pair.subject : *pair.other;
      const double worse = claim.direction == Claim::higher ? *pair.other : *pair.subject;
      const bool above_zero = better > 0 && worse > 0;
      difference = cell(!claim.ratio ? better - worse : above_zero ? better / worse : std::nan(""));
    }
    rows += markdown_row({text(pair.seed), value(pair.subject), value(pair.other), difference});
  }
  return text(
      "### Claim ", number, ": ", words_of(verdict), "\n\n**", name_of(verdict.answer), "**",
      sentence(verdict).substr(name_of(verdict.answer).size()), "\n\n", measured, ":\n\n",
      table_with_head({"seed", verdict.subject, verdict.other, claim.ratio ? "ratio" : "difference"}, rows),
      '\n');
}

std::string summary_of(const Study& study, const std::vector<MeasuredRun>& runs,
                       const std::vector<Verdict>& verdicts) {
  std::string all =
      text("# ", study.question.empty() ? "Study of lamina " + study.experiment : study.question, "\n\n");
  const auto count = [&](RunEnd::Outcome outcome) {
    return std::ranges::count(runs, outcome, [](const MeasuredRun& run) { return run.end.outcome; });
  };
  all += text("lamina ", study.experiment);
  for (const auto& [name, value] : study.settings.entries()) all += text(", ", name, ' ', text_of(value));
  const auto counted = [](size_t number, const char* what) {
    return text(number, ' ', what, number == 1 ? "" : "s");
  };
  all +=
      text("; ", counted(study.combinations.size(), "variant"), " with ", counted(study.seeds.size(), "seed"),
           ": ", count(RunEnd::finished), " runs finished, ", count(RunEnd::diverged), " diverged, ",
           count(RunEnd::failed), " failed, ", count(RunEnd::waiting), " to go.\n\n");
  if (study.choose_seeds > 0)
    all += text("Every variant is trained with the first ", study.choose_seeds, " of them, which choose by ",
                study.choose, "; what was chosen with all.\n\n");
  if (const std::string data = data_of(runs); !data.empty()) all += "Data: " + data + ".\n\n";
  if (!verdicts.empty()) {
    all += text("## Claims\n\nA verdict is Student's t at ", 100 * verdict_confidence,
                "% over runs paired by seed; models/evidence/README.md says more.\n\n");
    for (size_t i = 0; i < verdicts.size(); ++i)
      all += claim_section(verdicts[i], i + 1, measured_of(verdicts[i]));
  }
  if (!study.against.empty()) all += section_against(study, runs, shown_metrics(study, runs));
  all += section_levels(study, runs) + "## Variants\n\n";
  for (const std::string& metric : shown_metrics(study, runs)) all += metric_section(study, runs, metric);
  for (const MeasuredRun& run : runs)
    if (run.end.outcome == RunEnd::diverged || run.end.outcome == RunEnd::failed)
      all += text("- ", run.run.name, ' ', name_of(run.end.outcome), ": ", run.end.reason, '\n');
  return all;
}

std::string verdicts_json(const std::vector<Verdict>& verdicts) {
  auto all = nlohmann::ordered_json::array();
  for (const Verdict& verdict : verdicts) {
    nlohmann::ordered_json one{{"claim", words_of(verdict)}, {"answer", name_of(verdict.answer)},
                               {"subject", verdict.subject}, {"other", verdict.other},
                               {"n", verdict.pairs.size()},  {"data", verdict.data}};
    if (verdict.has_number()) {
      one[verdict.claim.ratio ? "ratio" : "difference"] = verdict.number;
      one["interval"] = {verdict.student.low, verdict.student.high};
      one["bootstrap"] = {verdict.bootstrap.low, verdict.bootstrap.high};
    }
    one["sentence"] = sentence(verdict);
    all.push_back(one);
  }
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

std::vector<Panel> study_figure(const Study& study, const std::vector<MeasuredRun>& runs, bool single) {
  if (!study.against.empty()) return in_range(study, figure_against(study, runs, shown_metrics(study, runs)));
  std::vector<Panel> panels;
  const std::vector<std::string> metrics = measured_again(shown_metrics(study, runs), runs);
  for (const std::string& value : panel_values(study)) {
    std::vector<size_t> shown;
    for (size_t i = 0; i < study.combinations.size(); ++i)
      if (in_panel(study, i, value)) shown.push_back(i);
    for (const std::string& metric : metrics)
      panels.push_back(metric_panel(study, runs, metric, panel_title(study, value), shown, single));
  }
  return in_range(study, std::move(panels));
}

std::vector<Panel> compared_figure(const Study& study, const std::vector<MeasuredRun>& runs, bool single) {
  const std::vector<size_t> compared = compared_by_claims(study, runs);
  std::vector<Panel> panels;
  for (const std::string& metric : measured_again(shown_metrics(study, runs), runs))
    panels.push_back(metric_panel(study, runs, metric, "", compared, single));
  return in_range(study, std::move(panels));
}

namespace {

/// What is known of all runs, also of those that the study's file no longer names: their folders may be gone. Of one with a
/// damaged file the numbers that were kept.
std::string all_numbers(const Study& study, std::vector<MeasuredRun> runs, const std::string& folder) {
  std::set<std::string> named;
  for (const StudyRun& run : study.runs()) named.insert(run.name);
  for (const MeasuredRun& run : runs)
    if (run.end.damaged) named.erase(run.run.name);
  for (auto& [name, run] : kept_numbers(folder)) {
    if (named.contains(name)) continue;
    run.run.name = name;
    runs.push_back(std::move(run));
  }
  return numbers_of(runs);
}

}  // namespace

void report_study(const Study& study, const std::string& folder, bool single) {
  const std::vector<MeasuredRun> runs = without_unwanted(study, measured_runs(study, folder));
  require_metrics(study, runs);
  std::vector<Verdict> verdicts;
  for (const Claim& claim : study.claims) verdicts.push_back(judge(claim, study, runs));
  const ResultFolder results(folder);
  results.report(summary_of(study, runs, verdicts));
  results.write("runs.csv", runs_csv(study, runs));
  results.write("variants.csv", variants_csv(study, runs, shown_metrics(study, runs)));
  results.write(numbers_file, all_numbers(study, runs, folder));
  if (!verdicts.empty()) results.write("verdicts.json", verdicts_json(verdicts));
  if (const std::vector<Panel> panels = study_figure(study, runs, single); !panels.empty())
    results.draw("figure", panels);
  if (study.against.empty() || study.claims.empty()) return;
  if (const std::vector<Panel> panels = compared_figure(study, runs, single); !panels.empty())
    results.draw("curves", panels);
}

}  // namespace lamina
