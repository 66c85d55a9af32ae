#include "tools/report/document.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "core/error.h"
#include "core/real.h"
#include "core/version.h"
#include "models/run/metrics.h"
#include "tools/flags/training/command_times.h"
#include "tools/results/norm_table.h"
#include "tools/results/palette.h"

namespace lamina {

namespace {

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

/// The pictures of all runs, in the order of the exhibit's plans.
Json pictures_of(const Exhibit& exhibit, const std::vector<FoundRun>& runs) {
  Json pictures = Json::array();
  for (const PicturePlan& plan : exhibit.pictures)
    for (const FoundRun& run : runs)
      for (const FoundPicture& picture : run.pictures)
        if (belongs(run, exhibit) && fits(plan, picture.file) && picture.problem.empty())
          pictures.push_back(
              {{"title", plan.title}, {"run", run.path + '/' + picture.file}, {"source", picture.source}});
  return pictures;
}

/// The charts of the exhibit's file, and those of single updates.
Json all_charts(const Exhibit& exhibit, const std::vector<Trace>& traces, const std::vector<FoundRun>& runs,
                const std::vector<PaperPanel>& panels) {
  Json charts = charts_of(exhibit, traces, panels);
  const Exhibit updates = updates_of(exhibit);
  for (Json& chart : charts_of(updates, traces_of(updates, runs), {})) {
    chart["by_update"] = true;
    charts.push_back(std::move(chart));
  }
  return charts;
}

/// What shows an exhibit first: its command on built-in data with the small preset, and its time. Nothing where the exhibit's
/// own command is one.
Json quick_of(const Exhibit& exhibit) {
  std::string quick = exhibit.command.substr(0, exhibit.command.find(';'));
  if (quick.find(" --data DIR") == std::string::npos) return nullptr;
  for (const std::string_view left_out : {" --data DIR", " --batch 128,4"})
    if (const size_t at = quick.find(left_out); at != std::string::npos) quick.erase(at, left_out.size());
  const size_t begin = quick.find(' ') + 1;
  return {{"command", quick}, {"time", time_of(quick.substr(begin, quick.find(" --out") - begin))}};
}

Json exhibit_json(const Exhibit& exhibit, const Findings& findings, const std::vector<KnownClaim>& claims,
                  const std::vector<PaperPanel>& panels) {
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
          {"finding", exhibit.finding},
          {"command", exhibit.command},
          {"quick", quick_of(exhibit)},
          {"readme", exhibit.readme},
          {"badges", std::move(badges)},
          {"verdict", verdict_on(exhibit.id, claims)},
          {"charts", all_charts(exhibit, traces, findings.runs, panels)},
          {"tables", tables_of(exhibit, traces, findings.runs)},
          {"pictures", pictures_of(exhibit, findings.runs)},
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

/// The colours, light and dark, of everything that curves are named after, and the dashes: those of gnuplot's figures.
Json looks_json() {
  Json colors = Json::object(), patterns = Json::array();
  const auto add = [&](std::string_view name, int color) {
    const Shade& shade = palette[static_cast<size_t>(color)];
    colors[std::string(name)] = {shade.light, shade.dark};
  };
  for (const Look& look : looks()) add(look.norm, look.color);
  for (size_t i = 0; i < plain_colors; ++i) add(text("plain-", i), plain_color(i));
  add("other", plain_color(0));
  add("level", plain_color(7));
  for (const Dash& dash : dashes) {
    Json& lengths = patterns.emplace_back(Json::array());
    for (const int length : dash.lengths)
      if (length > 0) lengths.push_back(length);
  }
  return {{"colors", std::move(colors)}, {"dashes", std::move(patterns)}};
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

std::string progress(double done, double whole, const std::string& column) {
  const auto count = [](double value) { return text(static_cast<long long>(value)); };
  return text(count(done), " of ", count(whole), column == "step" ? " updates" : ' ' + column + 's');
}

std::string pretty(double value, int digits) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  std::string plain = formatted(text("%.", digits, 'g').c_str(), value);
  const size_t exponent = plain.find('e');
  if (exponent == std::string::npos) return plain;
  constexpr double largest_plain = 1e6;  // "1234" and not "1.23 × 10³": counts are read exactly
  if (std::abs(value) >= 1 && std::abs(value) < largest_plain) return formatted("%.0f", value);
  static const char* const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string power = plain[exponent + 1] == '-' ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(std::stoi(plain.substr(exponent + 1)))))
    power += raised[digit - '0'];
  return plain.substr(0, exponent) + " × 10" + power;
}

Json make_document(const Findings& findings, const std::vector<KnownClaim>& claims,
                   const std::vector<PaperPanel>& panels) {
  Json list = Json::array();
  for (const Exhibit& exhibit : exhibits()) list.push_back(exhibit_json(exhibit, findings, claims, panels));
  list.push_back(speed_exhibit(findings.measured));
  return {{"program", text("lamina ", version, ", ", sizeof(real) == 4 ? "float" : "double")},
          {"date", today()},
          {"looks", looks_json()},
          {"leftovers", leftovers(findings)},
          {"exhibits", std::move(list)}};
}

}  // namespace lamina
