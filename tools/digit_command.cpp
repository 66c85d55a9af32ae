#include "tools/digit_command.h"

#include <algorithm>
#include <cstdio>

namespace lamina {

DigitOptions options_of(const Variant& variant, const CommonFlags& flags) {
  return {.norm = norm_from(variant.norm),
          .batch = static_cast<size_t>(variant.batch),
          .learning_rate = static_cast<real>(flags.learning_rate),
          .seed = static_cast<std::uint64_t>(flags.seed)};
}

MnistData load_digits(const CommonFlags& flags) {
  const auto seed = static_cast<std::uint64_t>(flags.seed);
  if (!flags.data.empty()) return load_mnist(flags.data);
  return flags.smoke > 0 ? synthetic_mnist(seed, 1280, 200, 200) : synthetic_mnist(seed);
}

namespace {

/// A markdown table, one row a variant; the last column is chosen on the validation set, as one would.
std::string summary(const std::vector<Variant>& variants, const std::vector<Table>& tables) {
  std::string out =
      "| variant | batch | epochs | train NLL | valid error | test error | test error at best valid (epoch) "
      "| seconds |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto column = [&](const char* name) { return tables[i].column(name); };
    const auto last = [&](const char* name) { return column(name).back(); };
    const auto valid = column("valid_error");
    const auto best = static_cast<size_t>(std::ranges::min_element(valid) - valid.begin());
    char row[256];
    std::snprintf(row, sizeof row, "| %s | %lld | %.0f | %.2e | %.2f%% | %.2f%% | %.2f%% (%.0f) | %.0f |\n",
                  title_of(variants[i].norm).c_str(), static_cast<long long>(variants[i].batch),
                  last("epoch"), last("train_nll"), 100 * last("valid_error"), 100 * last("test_error"),
                  100 * column("test_error")[best], column("epoch")[best], last("seconds"));
    out += row;
  }
  return out;
}

/// Figure 6: train NLL on a log axis and test error against epochs, a pair of panels for each batch size.
std::vector<Panel> figure(const std::vector<Variant>& variants, const std::vector<Table>& tables) {
  std::vector<Panel> panels;
  for (size_t i = 0; i < variants.size(); ++i) {
    if (i == 0 || variants[i].batch != variants[i - 1].batch) {
      const std::string batch = text("batch size ", variants[i].batch);
      panels.push_back({.title = batch, .x_label = "epoch", .y_label = "train NLL [nats]", .log_y = true});
      panels.push_back({.title = batch, .x_label = "epoch", .y_label = "test error"});
    }
    const auto epochs = tables[i].column("epoch");
    Curve curve{.title = title_of(variants[i].norm), .x = epochs, .color = color_of(variants[i].norm)};
    curve.y = tables[i].column("train_nll");
    panels[panels.size() - 2].curves.push_back(curve);
    curve.y = tables[i].column("test_error");
    panels[panels.size() - 1].curves.push_back(curve);
  }
  return panels;
}

Prepared prepare(const DigitCommand& command, const CommonFlags& flags) {
  const auto data = std::make_shared<const MnistData>(load_digits(flags));
  return {.source = data->source,
          .training_cases = data->train.count(),
          .train = [=](const RunFolder& folder, const Variant& variant, const std::string& label) {
            const auto experiment = command.make(*data, options_of(variant, flags));
            return train(folder, experiment->parameters, experiment->optimizer(), *experiment,
                         {.label = label,
                          .steps_per_epoch = experiment->steps_per_epoch(),
                          .epochs = static_cast<std::uint64_t>(flags.epochs)});
          }};
}

}  // namespace

int run_digit_command(const DigitCommand& command, const CommonFlags& flags) {
  return run_variants({.name = command.name,
                       .paper_epochs = command.paper_epochs,
                       .small_epochs = command.small_epochs,
                       .prepare = [&](const CommonFlags& complete) { return prepare(command, complete); },
                       .summary = summary,
                       .figure = figure},
                      flags);
}

}  // namespace lamina
