#include "models/lab/optimization/gain.h"

#include "models/lab/adding.h"

namespace lamina::lab {

namespace {

constexpr size_t steps = 50, updates = 1000, updates_between_tests = 100;
constexpr double gains[] = {0.1, 0.3, 1};
constexpr double rates[] = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3};

struct Variant {
  const char* name;
  Norm norm;
};
constexpr Variant variants[] = {{"layer", Norm::layer}, {"batch", Norm::batch}};

/// "batch from 0.1"
std::string name_of(const Variant& variant, double gain) {
  return std::string(variant.name) + " from " + std::to_string(gain).substr(0, 3);
}

AddingRun train(const Variant& variant, double gain, real rate, const AddingSets& cases, size_t last,
                std::int64_t seed) {
  Notes notes(seed);
  AddingModel model({.lstm = true,
                     .norm = variant.norm,
                     .gain = static_cast<real>(gain),
                     .hidden = 32,
                     .steps = steps,
                     .learning_rate = rate},
                    static_cast<std::uint64_t>(seed));
  const std::vector<double> lengths = model.gradient_lengths(cases.test);
  notes.add(variant.name, "gradient of the first state over that of the last", gain,
            lengths.front() / lengths.back());
  for (size_t i = 1; i <= last; ++i) {
    model.train_step();
    if (i % updates_between_tests == 0 || i == last)
      notes.add(name_of(variant, gain), "test error", static_cast<double>(i), model.error(cases.test));
  }
  notes.add(variant.name, "test error at the end", gain, model.error(cases.test));
  notes.add(variant.name, "learning rate", gain, static_cast<double>(rate));
  return {.rows = notes.rows(), .valid_error = model.error(cases.valid)};
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  Notes notes(seed);
  const AddingSets cases = adding_sets(steps, quick ? 20 : 1000, seed);
  for (const Variant& variant : variants)
    for (const double gain : gains)
      notes.add(at_the_best_rate(
          rates, [&](real rate) { return train(variant, gain, rate, cases, quick ? 2 : updates, seed); }));
  return notes.rows();
}

LabNumber at_gain(const char* variant, const char* quantity, double gain) {
  return {.variant = variant, .quantity = quantity, .over = LabNumber::at_x, .x = gain};
}

}  // namespace

Lab gain() {
  const char* const error = "test error at the end";
  const char* const gradient = "gradient of the first state over that of the last";
  const auto claim = [](const std::string& words, const LabNumber& subject, const LabNumber& other,
                        Claim::Direction direction) {
    return LabClaim{
        .words = words, .subject = subject, .other = other, .direction = direction, .ratio = true};
  };
  return {
      .name = "gain",
      .title = "Initial gains in recurrent layers",
      .sentence =
          "Cooijmans et al. (2016) \"show that initializing the gain parameter in the recurrent batch "
          "normalization layer to 0.1 makes significant difference in the final performance of the model\"; "
          "their reason is that tanh of inputs with deviation 1 lets gradients vanish.",
      .source = "Layer Normalization (Ba, Kiros and Hinton 2016), Section 4",
      .setting =
          "The adding problem over 50 steps: an LSTM with 32 units, 1000 updates of Adam with 32 cases, for "
          "each gain and seed the best of eight learning rates by other cases, 1000 test cases. Always "
          "answering 1 has an error of 1/6. The gradient is that of the loss for h_1 and h_50 before "
          "training.",
      .measure = measure,
      .claims =
          {claim("Under batch norm an initial gain of 0.1 ends at a lower error than 1",
                 at_gain("batch", error, 0.1), at_gain("batch", error, 1), Claim::lower),
           claim("Under layer norm an initial gain of 0.1 ends at a lower error than 1",
                 at_gain("layer", error, 0.1), at_gain("layer", error, 1), Claim::lower),
           claim("Under batch norm a gain of 0.1 passes more of the gradient back to the first step than 1",
                 at_gain("batch", gradient, 0.1), at_gain("batch", gradient, 1), Claim::higher),
           claim("Under layer norm a gain of 0.1 passes more of the gradient back to the first step than 1",
                 at_gain("layer", gradient, 0.1), at_gain("layer", gradient, 1), Claim::higher)},
      .charts = {{.title = "At the end",
                  .quantity = error,
                  .x_label = "initial gain",
                  .y_label = "mean squared error",
                  .log_x = true,
                  .log_y = true},
                 {.title = "Gradients before training",
                  .quantity = gradient,
                  .x_label = "initial gain",
                  .y_label = "length, h_1 over h_50",
                  .log_x = true,
                  .log_y = true},
                 {.title = "Batch norm while it learns",
                  .quantity = "test error",
                  .x_label = "updates",
                  .y_label = "mean squared error",
                  .log_y = true,
                  .variants = {"batch from 0.1", "batch from 0.3", "batch from 1.0"}}},
  };
}

}  // namespace lamina::lab
