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
#include "tools/report/tables.h"
#include "tools/report/traces.h"

namespace lamina {

namespace {

constexpr size_t most_points = 1500;  // of a curve; a screen has no more columns

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
  Json curve{{"label", trace.label}, {"norm", trace.norm}, {"dash", trace.dash}};
  const auto add = [&](const char* name, const std::vector<double>& values) {
    if (values.empty()) return;
    Json& points = curve[name] = Json::array();
    for (size_t i = 0; i < xs.size(); ++i)
      if ((i % stride == 0 || i + 1 == xs.size()) && std::isfinite(xs[i]))
        points.push_back(rounded(values[i]));
  };
  add("x", xs);
  add("y", ys);
  add("low", trace.column(chart.low));
  add("high", trace.column(chart.high));
  return curve;
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

/// What theory says of a trace, dotted.
void add_theory(const ChartPlan& plan, const Trace& trace, Json& curves) {
  if (trace.column(plan.theory.column).empty()) return;
  Trace theory = trace;
  theory.label += ", " + plan.theory.title;
  theory.dash = 2;
  curves.push_back(curve_of(theory, {.x = plan.x, .y = plan.theory.column}));
}

/// Whether a trace has the chart's columns. Of curves with bands, which stand for several runs, some have no numbers.
bool is_in(const ChartPlan& plan, const Trace& trace) {
  const std::vector<double> y = trace.column(plan.y);
  if (trace.column(plan.x).empty() || y.empty()) return false;
  return plan.low.empty() || std::ranges::any_of(y, [](double value) { return std::isfinite(value); });
}

/// A chart for every facet and plan that has a curve.
Json charts_of(const Exhibit& exhibit, const std::vector<Trace>& traces) {
  Json charts = Json::array();
  for (const std::string& facet : facets_of(traces))
    for (const ChartPlan& plan : exhibit.charts) {
      Json curves = Json::array();
      for (const Trace& trace : traces) {
        if (trace.facet != facet || !is_in(plan, trace)) continue;
        curves.push_back(curve_of(trace, plan));
        add_theory(plan, trace, curves);
      }
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
  if (run.study) return study_badges(*run.study);
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
  if (run.study) return study_problems(run, exhibit);
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
  return {{"part", exhibit.part},
          {"id", exhibit.id},
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
    list.push_back(run.problem.empty() ? text(run.path, ": the report has no exhibit for ",
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

Json badge(const char* kind, const std::string& label) { return {{"kind", kind}, {"text", label}}; }

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
