#include "tools/reader_report.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "core/error.h"
#include "tools/common_flags.h"

namespace lamina {

namespace {

/// The last update of the shortest curve.
double common_length(const std::vector<ReaderResult>& results) {
  double length = std::numeric_limits<double>::infinity();
  for (const ReaderResult& result : results) length = std::min(length, result.curves.column("step").back());
  return length;
}

/// The first rows of a table, those of at most so many updates.
Table up_to(const Table& curves, double length) {
  Table part = curves;
  const auto steps = curves.column("step");
  const auto end = std::ranges::upper_bound(steps, length);
  part.rows.resize(static_cast<size_t>(end - steps.begin()));
  return part;
}

std::string number(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

}  // namespace

std::string ReaderVariant::name() const { return norm == "layer" ? text("layer-gain-", gain) : norm; }

std::string title_of(const ReaderVariant& variant) {
  if (variant.norm == "layer") return "LN-LSTM, gain " + number("%.1f", variant.gain);
  if (variant.norm == "batch") return "BN-LSTM";
  return variant.norm == "none" ? "LSTM" : "BN-everywhere";
}

std::string summary(const std::vector<ReaderResult>& results) {
  const double length = common_length(results);
  std::string out =
      "| | updates | lowest validation error, % | at update | last validation error, % | test error of the "
      "best, % | by the population's statistics, % | seconds |\n|---|---|---|---|---|---|---|---|\n";
  for (const ReaderResult& result : results) {
    const Table curves = up_to(result.curves, length);
    const auto errors = curves.column("valid_error");
    const auto best = std::ranges::min_element(errors) - errors.begin();
    out += "| " + title_of(result.variant) + number(" | %.0f", curves.column("step").back()) +
           number(" | %.1f", 100 * errors[static_cast<size_t>(best)]) +
           number(" | %.0f", curves.column("step")[static_cast<size_t>(best)]) +
           number(" | %.1f", 100 * errors.back()) + number(" | %.1f", 100 * result.test.by_batch.error) +
           (result.test.population ? number(" | %.1f", 100 * result.test.population->error) : " | -") +
           number(" | %.0f |\n", curves.column("seconds").back());
  }
  const Table& any = results.front().curves;
  const auto guess = [&](const char* column) { return number("%.1f", 100 * any.column(column).back()); };
  return out + "\nWithout reading, the validation error is " + guess("chance_error") +
         "% for an entity of the passage at random, " + guess("frequent_error") +
         "% for the most frequent one, and " + guess("frequent_other_error") +
         "% for the most frequent one that is not in the question.\n";
}

std::vector<Panel> figure(const std::vector<ReaderResult>& results) {
  const double length = common_length(results);
  Panel panel{.title = "validation questions", .x_label = "updates", .y_label = "error rate"};
  for (const ReaderResult& result : results) {
    const Table curves = up_to(result.curves, length);
    const bool second_gain = result.variant.norm == "layer" && result.variant.gain != 1;
    panel.curves.push_back({.title = title_of(result.variant),
                            .x = curves.column("step"),
                            .y = curves.column("valid_error"),
                            .line = second_gain ? Line::dashed : Line::solid,
                            .color = color_of(result.variant.norm)});
  }
  const Table guesses = up_to(results.front().curves, length);
  const auto add_guess = [&](const char* column, const char* title, int color) {
    panel.curves.push_back({.title = title,
                            .x = guesses.column("step"),
                            .y = guesses.column(column),
                            .line = Line::dotted,
                            .color = color});
  };
  add_guess("chance_error", "random entity", color_of("none"));
  add_guess("frequent_error", "most frequent", color_of("weight"));
  add_guess("frequent_other_error", "most frequent other", color_of("rms"));
  return {panel};
}

}  // namespace lamina
