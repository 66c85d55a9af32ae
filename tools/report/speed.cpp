// The speed section of the report.

#include <array>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/files/file.h"
#include "layers/norms/norm.h"
#include "tools/report/document.h"
#include "tools/report/exhibits/exhibits.h"

namespace lamina {

namespace {

constexpr size_t most_bytes = size_t{16} << 20;

double number_or_nan(const Json& value) { return value.is_number() ? value.get<double>() : NAN; }

/// One table for one file; throws Json::exception when the file is of another kind.
Json speed_table(const Json& measured) {
  std::map<std::string, double> plain;
  for (const Json& row : measured.at("rows"))
    if (row.at("variant") == "none") plain[row.at("case").get<std::string>()] = row.at("ms").get<double>();
  Json rows = Json::array();
  for (const Json& row : measured.at("rows")) {
    const auto name = row.at("case").get<std::string>(), variant = row.at("variant").get<std::string>();
    const double ms = row.at("ms").get<double>();
    const double ratio = number_or_nan(row.at("ratio"));
    const auto interval = row.at("interval").is_null() ? std::array<double, 2>{NAN, NAN}
                                                       : row.at("interval").get<std::array<double, 2>>();
    const bool noisy = row.at("too_noisy").get<bool>();
    const auto norm = norm_named(variant);
    rows.push_back(
        {{"label", text(name, ", ", variant)},
         {"norm", norm ? name_of(*norm) : ""},
         {"source", "here"},
         {"cells",
          {pretty(ms, 3), pretty(number_or_nan(row.at("peer_ms")), 3), noisy ? "too noisy" : pretty(ratio, 3),
           std::isnan(interval[0]) ? "–" : pretty(interval[0], 3) + " to " + pretty(interval[1], 3),
           pretty(plain.contains(name) ? ms / plain[name] : NAN, 3),
           pretty(100 * row.at("fraction").get<double>(), 2)}}});
  }
  return {{"title", "Milliseconds per training step"},
          {"columns",
           {"Lamina, ms", "PyTorch, ms", "PyTorch / Lamina", "95% interval", "variant / none", "% of peak"}},
          {"rows", std::move(rows)}};
}

std::string conditions(const Json& measured) {
  return text(measured.at("machine").get<std::string>(), "; ", measured.at("backend").get<std::string>(),
              "; ", measured.at("bursts").get<int>(), " bursts of ", measured.at("seconds").get<double>(),
              " s, both sides in turn");
}

}  // namespace

Json speed_exhibit(const std::vector<std::string>& files) {
  Json tables = Json::array(), runs = Json::array();
  for (const std::string& file : files) {
    Json run{{"path", file},
             {"norm", ""},
             {"badges", Json::array()},
             {"command", "make bench"},
             {"made_with", ""},
             {"problems", Json::array()}};
    try {
      const Json measured = Json::parse(read_file(file, most_bytes));
      tables.push_back(speed_table(measured));
      run["made_with"] = conditions(measured);
    } catch (const std::exception& problem) {
      run["problems"].push_back(text("is not what tools/bench.py writes (", problem.what(), ')'));
    }
    runs.push_back(std::move(run));
  }
  Json badges = Json::array();
  badges.push_back(runs.empty() ? badge("absent", "not run here") : badge("real", "measured"));
  return {{"part", speed_part},
          {"id", "speed"},
          {"title", "Speed"},
          {"section", ""},
          {"subject", "A training step beside PyTorch's, and what normalization costs"},
          {"claim",
           "The paper times no steps, but for skip-thoughts: a normalized iteration takes as long as a "
           "plain one."},
          {"setting",
           "Forward, loss, backward and Adam on random data. Times are lower quartiles of bursts; PyTorch's "
           "are of its fastest mode. \"variant / none\" is the cost of normalization, 1 being none; \"% of "
           "peak\" counts the products of a step only."},
          {"finding", ""},
          {"command", "make bench"},
          {"readme", "tools/bench/README.md"},
          {"badges", std::move(badges)},
          {"verdict", nullptr},
          {"charts", Json::array()},
          {"tables", std::move(tables)},
          {"pictures", Json::array()},
          {"runs", std::move(runs)}};
}

}  // namespace lamina
