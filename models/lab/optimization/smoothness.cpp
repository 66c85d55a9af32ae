#include "models/lab/optimization/smoothness.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "core/tape.h"
#include "models/lab/deep_digits.h"

namespace lamina::lab {

namespace {

struct LossAndGradient {
  double loss;
  std::vector<double> gradient;
};

LossAndGradient evaluate(Parameters& parameters, const std::function<Tensor()>& loss) {
  parameters.clear_gradients();
  Tape tape;
  const Tensor value = loss();
  tape.backward(value);
  const std::span<const real> gradient = parameters.gradients();
  LossAndGradient result{static_cast<double>(value.item()), {gradient.begin(), gradient.end()}};
  parameters.clear_gradients();
  return result;
}

double length_of(const std::vector<double>& x) {
  double squares = 0;
  for (const double each : x) squares += each * each;
  return std::sqrt(squares);
}

}  // namespace

std::vector<GradientStep> steps_along_gradient(Parameters& parameters, const std::function<Tensor()>& loss,
                                               const std::vector<double>& rates) {
  const std::vector<real> start(parameters.values().begin(), parameters.values().end());
  const std::vector<double> gradient = evaluate(parameters, loss).gradient;
  const double length = length_of(gradient);
  if (!(length > 0)) fail("steps_along_gradient: the gradient is zero; there is no direction to go");
  std::vector<GradientStep> steps;
  for (const double rate : rates) {
    const std::span<real> values = parameters.values();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<real>(static_cast<double>(start[i]) - rate * gradient[i]);
    LossAndGradient there = evaluate(parameters, loss);
    for (size_t i = 0; i < gradient.size(); ++i) there.gradient[i] -= gradient[i];
    const double change = length_of(there.gradient);
    steps.push_back({rate, there.loss, change / length, change / (rate * length)});
  }
  std::ranges::copy(start, parameters.values().begin());
  return steps;
}

Smoothness smoothness_of(const std::vector<GradientStep>& steps) {
  const auto largest = [&](auto member) { return std::ranges::max(steps, {}, member).*member; };
  return {.loss_range = largest(&GradientStep::loss) - std::ranges::min(steps, {}, &GradientStep::loss).loss,
          .gradient_change = largest(&GradientStep::gradient_change),
          .beta = largest(&GradientStep::smoothness)};
}

namespace {

constexpr size_t depth = 8, width = 64, batch = 64, cases = 250;
constexpr double rate = 0.1;

const char* const loss_range = "range of the loss along the gradient";
const char* const beta = "effective smoothness";
const char* const gradient_change = "change of the gradient";
const char* const by_rate = "change of the gradient by rate";
const char* const training_loss = "training loss";

void train_and_look(const MnistData& data, Norm norm, std::uint64_t seed, bool quick, Notes& notes) {
  const size_t periods = quick ? 2 : 20, period = quick ? 5 : 50;
  const std::vector<double> rates{0.25 * rate, 0.5 * rate, rate, 2 * rate, 4 * rate};
  DeepDigits net(data, {.digits = {.norm = norm,
                                   .batch = batch,
                                   .optimizer = OptimizerKind::sgd,
                                   .learning_rate = static_cast<real>(rate),
                                   .seed = seed},
                        .depth = depth,
                        .width = width});
  const DigitCases some = cases_of(data.train, 0, cases);
  const auto loss = [&] {
    return cross_entropy(net.logits(some.images, Mode::evaluate_by_batch), some.labels);
  };
  std::vector<double> changes(rates.size());
  for (size_t p = 0; p < periods; ++p) {
    const std::vector<GradientStep> steps = steps_along_gradient(net.parameters, loss, rates);
    const Smoothness smoothness = smoothness_of(steps);
    const auto x = static_cast<double>(p * period);
    notes.add(name_of(norm), loss_range, x, smoothness.loss_range);
    notes.add(name_of(norm), gradient_change, x, smoothness.gradient_change);
    notes.add(name_of(norm), beta, x, smoothness.beta);
    for (size_t r = 0; r < rates.size(); ++r)
      changes[r] += steps[r].gradient_change / static_cast<double>(periods);
    double sum = 0;
    for (size_t step = p * period; step < (p + 1) * period; ++step) sum += net.train(step);
    notes.add(name_of(norm), training_loss, static_cast<double>((p + 1) * period),
              sum / static_cast<double>(period));
  }
  for (size_t r = 0; r < rates.size(); ++r) notes.add(name_of(norm), by_rate, rates[r], changes[r]);
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  Notes notes(seed);
  const auto number = static_cast<std::uint64_t>(seed);
  const MnistData data = synthetic_mnist(number, quick ? 640 : 12800, 1, 1);
  for (const Norm norm : {Norm::none, Norm::weight, Norm::batch, Norm::layer})
    train_and_look(data, norm, number, quick, notes);
  return notes.rows();
}

}  // namespace

Lab smoothness() {
  const auto less = [](const std::string& words, Norm subject, const std::string& quantity,
                       LabNumber::Over over = LabNumber::mean) {
    return LabClaim{.words = words,
                    .subject = {.variant = name_of(subject), .quantity = quantity, .over = over},
                    .other = {.variant = name_of(Norm::none), .quantity = quantity, .over = over},
                    .ratio = true};
  };
  return {
      .name = "smoothness",
      .title = "How smooth the loss is along its gradient",
      .sentence =
          "\"The normalization scalar can implicitly reduce learning rate and makes learning more stable\": "
          "then a step of the same rate meets less of a change, of the loss and of its gradient.",
      .source =
          "Layer Normalization (Ba, Kiros and Hinton 2016), Section 5.2; measured as Santurkar et al. 2018 "
          "do, \"How does batch normalization help optimization?\"",
      .setting =
          "Built-in digits, eight relu layers of 64 units, 1000 updates of SGD with rate 0.1 and batches of "
          "64. At every 50th, steps of 0.025 to 0.4 times the gradient of 250 training cases are tried: the "
          "range of the loss over them, the largest change of the gradient relative to its length, and the "
          "largest change relative to the length of the step (effective smoothness, beta).",
      .measure = measure,
      .claims = {less("With batch norm the loss ranges less along the gradient than without normalization",
                      Norm::batch, loss_range),
                 less("With layer norm the loss ranges less along the gradient", Norm::layer, loss_range),
                 less("With batch norm the gradient changes less along itself", Norm::batch, gradient_change),
                 less("With layer norm the gradient changes less along itself", Norm::layer, gradient_change),
                 less("With weight norm the gradient changes less along itself", Norm::weight,
                      gradient_change),
                 less("With batch norm the effective smoothness beta is lower: the loss is smoother",
                      Norm::batch, beta),
                 less("With layer norm the effective smoothness beta is lower", Norm::layer, beta),
                 less("With batch norm the effective smoothness beta is lower before the first update",
                      Norm::batch, beta, LabNumber::first)},
      .charts = {{.title = "Range of the loss",
                  .quantity = loss_range,
                  .x_label = "update",
                  .y_label = "nats",
                  .log_y = true},
                 {.title = "Change of the gradient",
                  .quantity = by_rate,
                  .x_label = "rate of the step",
                  .y_label = "part of its length, mean over training",
                  .log_x = true,
                  .log_y = true},
                 {.title = "Effective smoothness beta",
                  .quantity = beta,
                  .x_label = "update",
                  .y_label = "change of the gradient / step",
                  .log_y = true},
                 {.title = "Learning",
                  .quantity = training_loss,
                  .x_label = "update",
                  .y_label = "training loss [nats]",
                  .log_y = true}},
  };
}

}  // namespace lamina::lab
