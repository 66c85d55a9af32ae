#include "tools/order_report.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "core/error.h"
#include "tools/common_flags.h"

namespace lamina {

namespace {

using order_embedding::BestBy;
using order_embedding::Recall;

/// What the best model is chosen by, at each validation.
std::vector<double> sums_of(const OrderResult& result) {
  if (result.best_by == BestBy::both) return result.curves.column("valid_sum");
  std::vector<double> sums(result.curves.column("step").size());
  for (const int k : {1, 5, 10}) {
    const auto recall = result.curves.column(text("valid_image_r", k));
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += recall[i];
  }
  return sums;
}

/// The row of the best validation; the first of equals, as training keeps it.
size_t best_row(const OrderResult& result) {
  const auto sums = sums_of(result);
  return static_cast<size_t>(std::ranges::max_element(sums) - sums.begin());
}

/// The step of the first validation that was at least as good, if one was.
std::optional<double> step_reaching(const OrderResult& result, double sum) {
  const auto sums = sums_of(result), steps = result.curves.column("step");
  const auto reached = std::ranges::find_if(sums, [=](double value) { return value >= sum; });
  if (reached == sums.end()) return {};
  return steps[static_cast<size_t>(reached - sums.begin())];
}

std::string number(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string cells(const Recall& recall) {
  return number("| %.1f ", recall.at1) + number("| %.1f ", recall.at5) + number("| %.1f ", recall.at10) +
         number("| %.1f ", recall.mean_rank);
}

/// What the others are measured by: the order embedding without normalization, or else the first.
const OrderResult& baseline_of(const std::vector<OrderResult>& results) {
  const auto found = std::ranges::find_if(
      results, [](const OrderResult& result) { return result.variant.name() == "order-none"; });
  return found == results.end() ? results.front() : *found;
}

}  // namespace

std::string title_of(const OrderVariant& variant) {
  return std::string(variant.score == "order" ? "OE" : "Sym") + (variant.norm == "layer" ? " + LN" : "");
}

std::string summary(const std::vector<OrderResult>& results) {
  std::string out =
      "| | caption R@1 | R@5 | R@10 | mean r | image R@1 | R@5 | R@10 | mean r "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  for (const OrderResult& result : results)
    out +=
        "| " + title_of(result.variant) + " " + cells(result.test.caption) + cells(result.test.image) + "|\n";

  const OrderResult& baseline = baseline_of(results);
  const size_t baseline_row = best_row(baseline);
  const double baseline_step = baseline.curves.column("step")[baseline_row],
               baseline_sum = sums_of(baseline)[baseline_row];
  const std::string name = title_of(baseline.variant);
  out += "\n| | updates | best validation at update | its sum of R@K | best at / best of " + name +
         " at | reaches the best of " + name + " at | that / best of " + name +
         " at | seconds |\n|---|---|---|---|---|---|---|---|\n";
  for (const OrderResult& result : results) {
    const auto column = [&](const char* which) { return result.curves.column(which); };
    const size_t best = best_row(result);
    const double step = column("step")[best];
    const auto reached = step_reaching(result, baseline_sum);
    out += "| " + title_of(result.variant) + number(" | %.0f", column("step").back()) +
           number(" | %.0f", step) + number(" | %.1f", sums_of(result)[best]) +
           number(" | %.2f", step / baseline_step) +
           (reached ? number(" | %.0f", *reached) + number(" | %.2f", *reached / baseline_step)
                    : " | never | ") +
           number(" | %.0f |\n", column("seconds").back());
  }
  return out;
}

std::vector<Panel> figure(const std::vector<OrderResult>& results, double period) {
  std::vector<Panel> panels;
  for (const int k : {1, 5, 10}) {
    Panel panel{.title = text("image R@", k, ", validation"),
                .x_label = text("iteration / ", period),
                .y_label = text("R@", k, " [%]")};
    for (const OrderResult& result : results) {
      Curve curve{.title = title_of(result.variant),
                  .x = result.curves.column("step"),
                  .y = result.curves.column(text("valid_image_r", k)),
                  .line = result.variant.score == "order" ? Line::solid : Line::dashed,
                  .color = color_of(result.variant.norm)};
      for (double& step : curve.x) step /= period;
      panel.curves.push_back(std::move(curve));
    }
    panels.push_back(std::move(panel));
  }
  return panels;
}

}  // namespace lamina
