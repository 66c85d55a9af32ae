#include "models/lab/optimization/sgd.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "models/lab/deep_digits.h"

namespace lamina::lab {

Descent follow(const DescentOptions& options, const std::function<double(std::uint64_t step)>& train) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (options.window == 0 || options.steps % options.window != 0)
    fail("follow: a window of ", options.window, " does not divide ", options.steps, " steps");
  Descent descent{infinite, infinite};
  double sum = 0;
  for (std::uint64_t step = 0; step < options.steps; ++step) {
    const double loss = train(step);
    if (!std::isfinite(loss)) return {infinite, descent.updates};
    sum += loss;
    if ((step + 1) % options.window != 0) continue;
    descent.loss = sum / static_cast<double>(options.window);
    sum = 0;
    if (descent.loss <= options.goal && !std::isfinite(descent.updates))
      descent.updates = static_cast<double>(step + 1);
  }
  return descent;
}

double highest_rate(const std::vector<RatedDescent>& sweep) {
  double highest = 0;
  for (const RatedDescent& each : sweep)
    if (std::isfinite(each.descent.updates)) highest = std::max(highest, each.rate);
  return highest;
}

namespace {

constexpr size_t depth = 4, width = 100, batch = 64;
constexpr double goal = 0.3;

const char* const updates = "updates to 0.3 nats";
const char* const training_loss = "training loss at the end";
const char* const highest = "highest rate that gets there";

struct Way {
  const char* name;
  OptimizerKind optimizer;
  double momentum;
};
constexpr Way ways[] = {{" with SGD", OptimizerKind::sgd, 0},
                        {" with momentum", OptimizerKind::sgd, 0.9},
                        {" with Adam", OptimizerKind::adam, 0}};
constexpr Norm norms[] = {Norm::none, Norm::batch, Norm::layer};

std::string variant_of(Norm norm, const Way& way) { return std::string(name_of(norm)) + way.name; }

std::vector<double> rates_of(const Way& way, bool quick) {
  if (quick) return way.optimizer == OptimizerKind::adam ? std::vector{1e-2} : std::vector{0.1};
  if (way.optimizer == OptimizerKind::adam) return {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1};
  return {3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3};
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  Notes notes(seed);
  const auto number = static_cast<std::uint64_t>(seed);
  const MnistData data = synthetic_mnist(number, quick ? 640 : 12800, 1, 1);
  const DescentOptions options{.steps = quick ? 20U : 600U, .window = 10, .goal = quick ? 10 : goal};
  for (const Way& way : ways)
    for (const Norm norm : norms) {
      const std::string variant = variant_of(norm, way);
      std::vector<RatedDescent> sweep;
      for (const double rate : rates_of(way, quick)) {
        DeepDigits net(data, {.digits = {.norm = norm,
                                         .batch = batch,
                                         .optimizer = way.optimizer,
                                         .learning_rate = static_cast<real>(rate),
                                         .momentum = static_cast<real>(way.momentum),
                                         .seed = number},
                              .depth = depth,
                              .width = width});
        sweep.push_back({rate, follow(options, [&](std::uint64_t step) { return net.train(step); })});
        notes.add(variant, updates, rate, sweep.back().descent.updates);
        notes.add(variant, training_loss, rate, sweep.back().descent.loss);
      }
      notes.add(variant, highest, highest_rate(sweep));
    }
  return notes.rows();
}

LabChart chart(const std::string& title, const Way& way) {
  LabChart chart{.title = title,
                 .quantity = training_loss,
                 .x_label = "learning rate",
                 .y_label = "training loss after 600 updates [nats]",
                 .log_x = true,
                 .log_y = true};
  for (const Norm norm : norms) chart.variants.push_back(variant_of(norm, way));
  return chart;
}

}  // namespace

Lab sgd() {
  const auto faster = [](const std::string& words, const std::string& subject, const std::string& other) {
    const auto best = [](const std::string& variant) {
      return LabNumber{.variant = variant, .quantity = updates, .over = LabNumber::lowest};
    };
    return LabClaim{.words = words,
                    .subject = best(subject),
                    .other = best(other),
                    .ratio = true,
                    .without = "did not get there"};
  };
  const auto higher_rates = [](const std::string& words, const std::string& subject) {
    return LabClaim{.words = words,
                    .subject = {.variant = subject, .quantity = highest},
                    .other = {.variant = "none with SGD", .quantity = highest},
                    .direction = Claim::higher,
                    .least = 3,
                    .ratio = true,
                    .in_each_seed = true};
  };
  return {
      .name = "sgd",
      .title = "Normalization with simple SGD",
      .sentence =
          "\"Feedforward neural networks trained using batch normalization converge faster even with simple "
          "SGD.\"",
      .source = "Layer Normalization (Ba, Kiros and Hinton 2016), Section 1",
      .setting =
          "Built-in digits, four relu layers of 100 units, batches of 64, 600 updates at each of seven "
          "rates: SGD, SGD with momentum 0.9, and Adam. What counts is the first ten updates (1 to 10, 11 to "
          "20, ...) whose mean training loss is at most 0.3 nats, at the rate that gets there first.",
      .measure = measure,
      .claims =
          {faster("With SGD, batch norm gets to 0.3 nats in fewer updates than no normalization",
                  "batch with SGD", "none with SGD"),
           faster("With SGD, layer norm gets there in fewer updates than no normalization", "layer with SGD",
                  "none with SGD"),
           faster("With SGD, batch norm gets there in fewer updates than layer norm", "batch with SGD",
                  "layer with SGD"),
           faster("With momentum, batch norm gets there in fewer updates than no normalization",
                  "batch with momentum", "none with momentum"),
           faster("With momentum, layer norm gets there in fewer updates than no normalization",
                  "layer with momentum", "none with momentum"),
           faster("With Adam, batch norm gets there in fewer updates than no normalization",
                  "batch with Adam", "none with Adam"),
           faster("With Adam, layer norm gets there in fewer updates than no normalization (added when the "
                  "numbers were known)",
                  "layer with Adam", "none with Adam"),
           faster("Batch norm with SGD gets there in fewer updates than no normalization with Adam",
                  "batch with SGD", "none with Adam"),
           higher_rates(
               "With SGD, batch norm gets there at more than 3 times the highest rate of no normalization",
               "batch with SGD"),
           higher_rates(
               "With SGD, layer norm gets there at more than 3 times the highest rate of no normalization",
               "layer with SGD")},
      .charts = {chart("SGD", ways[0]), chart("SGD with momentum 0.9", ways[1]), chart("Adam", ways[2])},
  };
}

}  // namespace lamina::lab
