#include "tools/report/document.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "core/error.h"
#include "core/real.h"
#include "core/version.h"
#include "tools/flags/field.h"
#include "tools/report/exhibits.h"
#include "tools/report/traces.h"

namespace lamina {

namespace {

constexpr size_t most_points = 1500;  // of a curve; a screen has no more columns

Json badge(const char* kind, const std::string& label) { return {{"kind", kind}, {"text", label}}; }

/// Six digits are more than a screen can show; fewer bytes for the page. JSON has no NaN: null is a gap.
Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return std::strtod(digits, nullptr);
}

/// The points of a curve; of a long one evenly spaced points and the last.
Json curve_of(const Trace& trace, const ChartPlan& chart) {
  const std::vector<double> xs = trace.column(chart.x), ys = trace.column(chart.y);
  const size_t stride = (xs.size() + most_points - 1) / most_points;
  Json x = Json::array(), y = Json::array();
  for (size_t i = 0; i < xs.size(); ++i) {
    if ((i % stride != 0 && i + 1 != xs.size()) || !std::isfinite(xs[i])) continue;
    x.push_back(rounded(xs[i]));
    y.push_back(rounded(ys[i]));
  }
  return {{"label", trace.label}, {"norm", trace.norm}, {"dash", trace.dash}, {"x", x}, {"y", y}};
}

/// The levels of a chart, as the first trace of the facet has them.
void add_levels(const ChartPlan& plan, const std::vector<Trace>& traces, const std::string& facet,
                Json& curves) {
  const auto first = std::ranges::find(traces, facet, &Trace::facet);
  for (size_t i = 0; i < plan.levels.size(); ++i) {
    Trace level = *first;
    level.label = plan.levels[i].title;
    level.norm = "level";
    level.dash = static_cast<int>(i) + 1;
    if (!level.column(plan.levels[i].column).empty())
      curves.push_back(curve_of(level, {.x = plan.x, .y = plan.levels[i].column}));
  }
}

/// A chart for every facet and plan that has a curve.
Json charts_of(const Exhibit& exhibit, const std::vector<Trace>& traces) {
  Json charts = Json::array();
  for (const std::string& facet : facets_of(traces))
    for (const ChartPlan& plan : exhibit.charts) {
      Json curves = Json::array();
      for (const Trace& trace : traces)
        if (trace.facet == facet && !trace.column(plan.x).empty() && !trace.column(plan.y).empty())
          curves.push_back(curve_of(trace, plan));
      if (curves.empty()) continue;
      add_levels(plan, traces, facet, curves);
      charts.push_back({{"title", facet.empty() ? plan.title : plan.title + ", " + facet},
                        {"x", plan.x_label},
                        {"y", plan.y_label},
                        {"log_x", plan.log_x},
                        {"log_y", plan.log_y},
                        {"curves", curves}});
    }
  return charts;
}

/// What a measure picks from a column; NaN when there is nothing to pick from.
double picked(const Trace& trace, const Measure& measure) {
  const std::vector<double> values = trace.column(measure.column), xs = trace.column(measure.x);
  std::vector<size_t> known;
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) known.push_back(i);
  if (known.empty()) return NAN;
  const auto value_at = [&](size_t i) { return values[i]; };
  const size_t lowest = *std::ranges::min_element(known, {}, value_at),
               highest = *std::ranges::max_element(known, {}, value_at);
  const auto x_at = [&](size_t i) { return xs.empty() ? NAN : xs[i]; };
  switch (measure.pick) {
    case Pick::first:
      return values[known.front()];
    case Pick::last:
      return values[known.back()];
    case Pick::lowest:
      return values[lowest];
    case Pick::highest:
      return values[highest];
    case Pick::where_lowest:
      return x_at(lowest);
    case Pick::where_highest:
      return x_at(highest);
  }
  return NAN;
}

Json paper_row(const PaperRow& row) {
  return {{"label", row.label}, {"norm", row.norm}, {"source", "paper"}, {"cells", row.cells}};
}

/// The paper's rows and ours under one head.
Json numbers_of(const Exhibit& exhibit, const std::vector<Trace>& traces) {
  Json columns = exhibit.paper_columns, rows = Json::array();
  for (const Measure& measure : exhibit.measures) columns.push_back(measure.title);
  for (const PaperRow& row : exhibit.paper) rows.push_back(paper_row(row));
  if (!exhibit.measures.empty())
    for (const Trace& trace : traces) {
      Json cells = Json::array();
      for (const Measure& measure : exhibit.measures)
        cells.push_back(pretty(measure.scale * picked(trace, measure), measure.digits));
      rows.push_back({{"label", trace.facet.empty() ? trace.label : trace.label + ", " + trace.facet},
                      {"norm", trace.norm},
                      {"source", "here"},
                      {"cells", cells}});
    }
  return {{"title", exhibit.paper.empty()                        ? "Measured"
                    : traces.empty() || exhibit.measures.empty() ? "In the paper"
                                                                 : "Paper and ours"},
          {"columns", columns},
          {"rows", rows}};
}

size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

std::string joined(const Csv& csv, size_t row, const std::vector<std::string>& columns) {
  std::string all;
  for (const std::string& column : columns)
    if (const auto place = csv.find(column)) all += (all.empty() ? "" : ", ") + csv.rows[row][*place];
  return all;
}

/// "yes, 3 × 10⁻¹⁶"
std::string verdict(double value, double threshold) {
  return text(threshold == 0 ? "" : value < threshold ? "yes, " : "no, ", pretty(value, 2));
}

/// A table in the making: cells by the names of row and column, in the order in which these came.
class Grid {
 public:
  explicit Grid(const TablePlan& plan) : plan_(plan) {}

  void put(const std::string& row, const std::string& norm, const std::string& column, double value) {
    const size_t r = place_of(rows_, row), c = place_of(columns_, column);
    norms_.resize(rows_.size());
    norms_[r] = norm;
    double& cell = cells_.try_emplace({r, c}, value).first->second;
    cell = std::max(cell, value);
  }

  Json table(const std::string& title) const {
    Json rows = Json::array();
    for (size_t r = 0; r < rows_.size(); ++r) {
      Json cells = Json::array();
      for (size_t c = 0; c < columns_.size(); ++c) {
        const auto cell = cells_.find({r, c});
        cells.push_back(cell == cells_.end() ? "" : verdict(cell->second, plan_.threshold));
      }
      rows.push_back({{"label", rows_[r]}, {"norm", norms_[r]}, {"source", "here"}, {"cells", cells}});
    }
    return {{"title", title}, {"columns", columns_}, {"rows", rows}};
  }

 private:
  const TablePlan& plan_;
  std::vector<std::string> rows_, columns_, norms_;
  std::map<std::pair<size_t, size_t>, double> cells_;
};

/// The tables that a plan makes of a file; none when the file lacks a column.
void add_tables(Json& tables, const TablePlan& plan, const FoundRun& run, const Csv& csv) {
  std::vector<std::string> parts;
  std::vector<Grid> grids;
  for (size_t row = 0; row < csv.rows.size(); ++row) {
    const size_t part = place_of(parts, joined(csv, row, {plan.split}));
    if (part == grids.size()) grids.emplace_back(plan);
    for (const std::string& name : plan.values)
      if (const auto place = csv.find(name))
        grids[part].put(joined(csv, row, plan.names), joined(csv, row, {plan.names.back()}),
                        plan.column.empty() ? name : joined(csv, row, {plan.column}),
                        number_in(csv.rows[row][*place]));
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    Json table = grids[part].table(text(plan.title, parts[part], " (", run.path, ')'));
    if (!table["columns"].empty()) tables.push_back(std::move(table));
  }
}

Json tables_of(const Exhibit& exhibit, const std::vector<Trace>& traces, const std::vector<FoundRun>& runs) {
  Json tables = Json::array();
  Json numbers = numbers_of(exhibit, traces);
  if (!numbers["rows"].empty()) tables.push_back(std::move(numbers));
  for (const TablePlan& plan : exhibit.tables)
    for (const FoundRun& run : runs)
      if (const auto file = run.files.find(exhibit.file); file != run.files.end())
        add_tables(tables, plan, run, file->second);
  return tables;
}

/// A word that the shell takes as it is.
std::string quoted(const std::string& word) {
  const char* const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=+:@";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The command that repeats a run: a setting is a flag of the same name, unless it follows from others or from the
/// environment.
std::string command_of(const FoundRun& run, const Exhibit& exhibit) {
  if (!run.config) return exhibit.command;
  std::string smoke, command = "lamina " + quoted(run.config->experiment);
  for (const auto& [name, value] : run.config->settings.entries()) {
    const std::string content = text_of(value);
    const bool not_given = content == "0" && (name == "epochs" || name == "updates" || name == "record");
    const bool follows = name == "variants" || name == "embedding" || name == "hidden";
    if (name == "smoke" && content != "0") smoke = "LAMINA_SMOKE=" + content + ' ';
    if (content.empty() || content == "false" || not_given || follows || name == "smoke") continue;
    std::string flag = name;
    std::ranges::replace(flag, '_', '-');
    command += " --" + flag;
    if (!std::holds_alternative<bool>(value))
      command += ' ' + quoted((name == "record" ? "every=" : "") + content);
  }
  return smoke + command + " --threads " + std::to_string(run.config->threads) + " --out " + quoted(run.path);
}

double last_of(const Csv& csv, const std::string& column) {
  const auto place = csv.find(column);
  return place && !csv.rows.empty() ? number_in(csv.rows.back()[*place]) : NAN;
}

/// Real or synthetic, whole or reduced.
Json badges_of(const FoundRun& run, const Exhibit& exhibit) {
  Json badges = Json::array();
  if (!run.config) return exhibit.on_data ? Json::array({badge("synthetic", "data not recorded")}) : badges;
  const std::string data = setting_of(run, "data");
  if (exhibit.on_data)
    badges.push_back(data.empty() ? badge("synthetic", "synthetic data") : badge("real", "data: " + data));
  if (setting_of(run, "preset") == "small") badges.push_back(badge("reduced", "small preset"));
  const auto file = run.files.find(exhibit.file);
  if (file == run.files.end()) return badges;
  const double done = last_of(file->second, exhibit.length_column),
               planned = number_in(setting_of(run, exhibit.length_column + "s"));
  const auto of = [&](double whole) {
    return text(pretty(done, 6), " of ", pretty(whole, 6), ' ', exhibit.length_column, 's');
  };
  if (planned > done)
    badges.push_back(badge("reduced", of(planned) + " so far"));
  else if (exhibit.full_length > done)
    badges.push_back(badge("reduced", of(exhibit.full_length)));
  return badges;
}

/// What cannot be shown of a run, and why.
Json problems_of(const FoundRun& run, const Exhibit& exhibit) {
  Json problems = Json::array();
  if (!run.problem.empty()) problems.push_back(run.problem);
  const auto file = run.files.find(exhibit.file);
  if (file == run.files.end()) {
    problems.push_back(text(
        exhibit.file, " is missing: the run has measured nothing yet, or was stopped; go on with lamina ",
        run.config ? run.config->experiment : "", " --resume --out ", quoted(run.path)));
    return problems;
  }
  const Csv& csv = file->second;
  if (!csv.problem.empty()) problems.push_back(exhibit.file + ' ' + csv.problem);
  std::vector<std::string> missing;
  for (const ChartPlan& chart : exhibit.charts)
    for (const std::string& column : {chart.x, chart.y})
      if (!csv.columns.empty() && !csv.find(column)) place_of(missing, column);
  for (const TablePlan& plan : exhibit.tables)
    for (const std::string& column : plan.values)
      if (!csv.columns.empty() && !csv.find(column)) place_of(missing, column);
  for (const std::string& column : missing)
    problems.push_back(text(exhibit.file, " has no column ", column, ", which the page would show"));
  return problems;
}

Json runs_of(const Exhibit& exhibit, const std::vector<FoundRun>& runs) {
  Json list = Json::array();
  for (const FoundRun& run : runs) {
    if (!belongs(run, exhibit)) continue;
    std::string made_with;
    if (run.config)
      made_with = text("lamina ", run.config->version, ", ", run.config->scalar, ", ", run.config->threads,
                       run.config->threads == 1 ? " thread, " : " threads, ", run.config->backend);
    list.push_back({{"path", run.path},
                    {"norm", setting_of(run, "norm")},
                    {"badges", badges_of(run, exhibit)},
                    {"command", command_of(run, exhibit)},
                    {"made_with", made_with},
                    {"problems", problems_of(run, exhibit)}});
  }
  return list;
}

/// One badge of a kind for all runs: its text where all have the same one, otherwise `mixed`.
void add_summary(Json& badges, const Json& runs, const std::string& kind, const std::string& mixed) {
  std::vector<std::string> texts;
  size_t count = 0;
  for (const Json& run : runs)
    for (const Json& each : run["badges"])
      if (each["kind"] == kind) place_of(texts, each["text"].get<std::string>()), ++count;
  if (texts.empty()) return;
  badges.push_back(badge(kind.c_str(), texts.size() == 1 && count == runs.size() ? texts[0] : mixed));
}

Json summary_badges(const Exhibit& exhibit, const Json& runs) {
  Json badges = Json::array();
  if (runs.empty()) badges.push_back(badge("absent", "not run here"));
  if (!runs.empty() && !exhibit.on_data) badges.push_back(badge("real", "measured"));
  add_summary(badges, runs, "real", "data from files, in part");
  add_summary(badges, runs, "synthetic", "synthetic data, in part");
  add_summary(badges, runs, "reduced", "reduced, in part");
  return badges;
}

Json exhibit_json(const Exhibit& exhibit, const Findings& findings) {
  const std::vector<Trace> traces = traces_of(exhibit, findings.runs);
  Json runs = runs_of(exhibit, findings.runs);
  Json badges = summary_badges(exhibit, runs);
  return {{"id", exhibit.id},
          {"title", exhibit.title},
          {"section", exhibit.section},
          {"subject", exhibit.subject},
          {"claim", exhibit.claim},
          {"setting", exhibit.setting},
          {"command", exhibit.command},
          {"badges", std::move(badges)},
          {"charts", charts_of(exhibit, traces)},
          {"tables", tables_of(exhibit, traces, findings.runs)},
          {"runs", std::move(runs)}};
}

/// Folders that are shown nowhere: of an unknown experiment, or with a config.json that cannot be read.
Json leftovers(const Findings& findings) {
  Json list = Json::array();
  if (!findings.complete)
    list.push_back("Not all folders were read, that took too long; give fewer of them to lamina report.");
  for (const FoundRun& run : findings.runs) {
    if (std::ranges::any_of(exhibits(), [&](const Exhibit& each) { return belongs(run, each); })) continue;
    list.push_back(run.problem.empty() ? text(run.path, ": the paper has no exhibit for ",
                                              run.config ? "lamina " + run.config->experiment
                                                         : "a folder without config.json")
                                       : run.problem);
  }
  return list;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char date[16];
  std::strftime(date, sizeof date, "%Y-%m-%d", &parts);
  return date;
}

}  // namespace

std::string pretty(double value, int digits) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  std::string plain = buffer;
  const size_t exponent = plain.find('e');
  if (exponent == std::string::npos) return plain;
  static const char* const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string power = plain[exponent + 1] == '-' ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(std::stoi(plain.substr(exponent + 1)))))
    power += raised[digit - '0'];
  return plain.substr(0, exponent) + " × 10" + power;
}

Json make_document(const Findings& findings) {
  Json list = Json::array();
  for (const Exhibit& exhibit : exhibits()) list.push_back(exhibit_json(exhibit, findings));
  list.push_back(speed_exhibit(findings.measured));
  return {{"program", text("lamina ", version, ", ", sizeof(real) == 4 ? "float" : "double")},
          {"date", today()},
          {"leftovers", leftovers(findings)},
          {"exhibits", std::move(list)}};
}

}  // namespace lamina
