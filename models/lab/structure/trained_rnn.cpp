#include "models/lab/structure/trained_rnn.h"

#include <algorithm>
#include <cmath>

#include "models/lab/adding.h"

namespace lamina::lab {

namespace {

constexpr size_t steps = 50, updates = 2000, updates_between_tests = 100;
constexpr double rates[] = {0.0003, 0.001, 0.003};

struct Variant {
  const char* name;
  Norm norm;
};
constexpr Variant variants[] = {{"none", Norm::none}, {"layer", Norm::layer}, {"batch", Norm::batch}};

/// The lengths of dL/dh_t by step, and how many powers of ten lie between the shortest and the longest.
void look(AddingModel& model, const char* variant, const std::string& when, const AddingCases& test,
          Notes& notes) {
  const std::vector<double> lengths = model.gradient_lengths(test);
  for (size_t t = 0; t < lengths.size(); ++t)
    notes.add(variant, "gradient " + when, static_cast<double>(t + 1), lengths[t]);
  const auto [low, high] = std::ranges::minmax(lengths);
  notes.add(variant, "spread " + when, std::log10(high / low));
}

AddingRun train(const Variant& variant, real rate, const AddingSets& cases, size_t last, std::int64_t seed) {
  Notes notes(seed);
  AddingModel model({.norm = variant.norm, .hidden = 64, .steps = steps, .learning_rate = rate},
                    static_cast<std::uint64_t>(seed));
  look(model, variant.name, "before training", cases.test, notes);
  for (size_t i = 1; i <= last; ++i) {
    model.train_step();
    if (i == last / 4) look(model, variant.name, "after a quarter", cases.test, notes);
    if (i % updates_between_tests == 0 || i == last)
      notes.add(variant.name, "test error", static_cast<double>(i), model.error(cases.test));
  }
  look(model, variant.name, "after training", cases.test, notes);
  notes.add(variant.name, "learning rate", static_cast<double>(rate));
  return {.rows = notes.rows(), .valid_error = model.error(cases.valid)};
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  Notes notes(seed);
  const AddingSets cases = adding_sets(steps, quick ? 20 : 1000, seed);
  const size_t last = quick ? 4 : updates;
  for (const Variant& variant : variants)
    notes.add(at_the_best_rate(rates, [&](real rate) { return train(variant, rate, cases, last, seed); }));
  return notes.rows();
}

LabChart gradient_chart(const std::string& when) {
  return {.title = "Gradients " + when,
          .quantity = "gradient " + when,
          .x_label = "step t",
          .y_label = "length of dL/dh_t",
          .log_y = true};
}

}  // namespace

Lab trained_rnn() {
  const auto lower = [](const std::string& words, const char* subject, const char* other,
                        const std::string& quantity) {
    return LabClaim{.words = words,
                    .subject = {.variant = subject, .quantity = quantity},
                    .other = {.variant = other, .quantity = quantity}};
  };
  return {
      .name = "trained-rnn",
      .title = "Gradients through time while an RNN learns",
      .sentence =
          "In a standard RNN the summed inputs tend \"to either grow or shrink at every time-step, leading "
          "to exploding or vanishing gradients. In a layer normalized RNN\" the invariance to their scale "
          "\"results in much more stable hidden-to-hidden dynamics.\"",
      .source = "Layer Normalization (Ba, Kiros and Hinton 2016), Section 3.1",
      .setting =
          "The adding problem over 50 steps: a tanh RNN with 64 units whose recurrent matrix starts "
          "orthogonal, 2000 updates of Adam with 32 cases, at the best of three learning rates by other "
          "cases, 1000 test cases. Always answering 1 has an error of 1/6. The spread is the logarithm to "
          "base 10 of the longest over the shortest dL/dh_t.",
      .measure = measure,
      .claims = {lower("Before training the gradients spread less under layer norm than without", "layer",
                       "none", "spread before training"),
                 lower("After training they spread less under layer norm than without", "layer", "none",
                       "spread after training"),
                 lower("Before training they spread less under layer norm than under batch norm", "layer",
                       "batch", "spread before training"),
                 lower("After training they spread less under layer norm than under batch norm", "layer",
                       "batch", "spread after training"),
                 lower("With layer norm the RNN ends at a lower error than without", "layer", "none",
                       "test error"),
                 lower("With layer norm it ends at a lower error than with batch norm", "layer", "batch",
                       "test error")},
      .charts = {gradient_chart("before training"),
                 gradient_chart("after a quarter"),
                 gradient_chart("after training"),
                 {.title = "Does it learn?",
                  .quantity = "test error",
                  .x_label = "updates",
                  .y_label = "mean squared error",
                  .log_y = true}},
  };
}

}  // namespace lamina::lab
