#include "models/lab/statistics/variable_length.h"

#include <cmath>
#include <limits>

#include "core/ops.h"
#include "core/tape.h"
#include "layers/linear.h"
#include "layers/recurrent/recurrent.h"
#include "optim/adam.h"

namespace lamina::lab {

namespace {

constexpr size_t longest = 30, shortest = 5, hidden = 32;  // of training
constexpr size_t longest_in_test = 60;

struct Variant {
  const char* name;
  Norm norm;
  bool count_padded;
};
constexpr Variant variants[] = {{"none", Norm::none, false},
                                {"layer", Norm::layer, false},
                                {"batch", Norm::batch, false},
                                {"batch with padding", Norm::batch, true}};

class Model {
 public:
  Model(const Variant& variant, std::uint64_t seed)
      : count_padded_(variant.count_padded),
        parameters(seed),
        lstm_(parameters, "lstm", {.input = 2, .hidden = hidden, .norm = variant.norm, .max_steps = longest}),
        output_(parameters, "output", {.input = hidden, .output = 1}) {}

  Tensor predict(const LeakySums& cases, Mode mode) const {
    return output_(
        lstm_(cases.input, {.mask = cases.mask, .mode = mode, .count_padded = count_padded_}).hidden);
  }

 private:
  bool count_padded_;

 public:
  Parameters parameters;

 private:
  Lstm lstm_;
  Linear output_;
};

void train(Model& model, std::uint64_t seed, size_t updates) {
  Adam adam(model.parameters, {.learning_rate = real(3e-3)});
  Random random(seed, 1);
  for (size_t i = 0; i < updates; ++i) {
    const LeakySums batch = leaky_sums(longest, 32, shortest, random);
    const Tensor mask = batch.mask.reshape(batch.y.shape());
    Tape tape;
    const Tensor loss =
        sum(square((model.predict(batch, Mode::train) - batch.y) * mask)) / sum(batch.mask).item();
    tape.backward(loss);
    adam.step();
  }
}

/// Mean over the steps (first, last], counted from 1.
double mean_of_steps(const std::vector<double>& errors, size_t first, size_t last) {
  double total = 0;
  for (size_t t = first; t < last; ++t) total += errors[t] / static_cast<double>(last - first);
  return total;
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  const auto number = static_cast<std::uint64_t>(seed);
  Notes notes(seed);
  Random random(number, 2);
  const LeakySums test = leaky_sums(longest_in_test, quick ? 20 : 1000, longest_in_test, random);
  // As in training: batches of 32, taken together afterwards.
  std::vector<LeakySums> batches;
  for (size_t i = 0; i < (quick ? 2 : 100); ++i) batches.push_back(leaky_sums(longest, 32, shortest, random));
  std::vector<double> reach(longest, 0);
  for (const LeakySums& batch : batches)
    for (size_t t = 0; t < longest; ++t)
      reach[t] += static_cast<double>(sum(batch.mask.step(t)).item()) / static_cast<double>(batches.size());
  for (size_t t = 0; t < longest; ++t)
    notes.add("batches of 32", "cases that reach a step", static_cast<double>(t + 1), reach[t]);

  for (const Variant& variant : variants) {
    Model model(variant, number);
    train(model, number, quick ? 2 : 600);
    const std::vector<double> in_use = error_by_step(model.predict(test, Mode::evaluate), test);
    for (size_t t = 0; t < longest_in_test; ++t)
      notes.add(variant.name, "error in use", static_cast<double>(t + 1), in_use[t]);
    std::vector<double> in_training(longest, 0), counted(longest, 0);
    for (const LeakySums& batch : batches) {
      const std::vector<double> errors = error_by_step(model.predict(batch, Mode::evaluate_by_batch), batch);
      for (size_t t = 0; t < longest; ++t)
        if (!std::isnan(errors[t])) in_training[t] += errors[t], ++counted[t];
    }
    for (size_t t = 0; t < longest; ++t)
      notes.add(variant.name, "error by batch statistics", static_cast<double>(t + 1),
                in_training[t] / counted[t]);
    notes.add(variant.name, "error in use at steps 1 to 10", mean_of_steps(in_use, 0, 10));
    notes.add(variant.name, "error in use at steps 21 to 30", mean_of_steps(in_use, 20, 30));
    notes.add(variant.name, "error in use at steps 31 to 60", mean_of_steps(in_use, 30, 60));
  }
  return notes.rows();
}

}  // namespace

LeakySums leaky_sums(size_t steps, size_t cases, size_t shortest_case, Random& random) {
  LeakySums all{Tensor::ones({steps, cases, 2}), Tensor({steps, cases, 1}), Tensor::zeros({steps, cases})};
  Tensor x({steps, cases});
  random.fill_normal(x.data(), x.size(), 0, 1);
  for (size_t i = 0; i < x.size(); ++i) all.input[2 * i] = x[i];
  for (size_t b = 0; b < cases; ++b) {
    real y = x[b];  // the first one has variance 1, too
    size_t length = shortest_case;
    while (length < steps && random.uniform() < 0.85) ++length;
    for (size_t t = 0; t < steps; ++t) {
      if (t > 0) y = real(0.8) * y + real(0.6) * x[t * cases + b];
      all.y[t * cases + b] = y;
      all.mask[t * cases + b] = t < length ? 1 : 0;
    }
  }
  return all;
}

std::vector<double> error_by_step(const Tensor& prediction, const LeakySums& cases) {
  const size_t steps = cases.mask.rows(), count = cases.mask.columns();
  std::vector<double> errors(steps);
  for (size_t t = 0; t < steps; ++t) {
    double total = 0, reached = 0;
    for (size_t i = t * count; i < (t + 1) * count; ++i) {
      const auto error = static_cast<double>(prediction[i]) - static_cast<double>(cases.y[i]);
      total += static_cast<double>(cases.mask[i]) * error * error;
      reached += static_cast<double>(cases.mask[i]);
    }
    errors[t] = reached > 0 ? total / reached : std::numeric_limits<double>::quiet_NaN();
  }
  return errors;
}

namespace {

std::vector<LabClaim> variable_length_claims() {
  const std::string early = "error in use at steps 1 to 10", late = "error in use at steps 21 to 30",
                    beyond = "error in use at steps 31 to 60";
  const auto is_higher = [](const std::string& words, const LabNumber& subject, const LabNumber& other) {
    return LabClaim{.words = words,
                    .subject = subject,
                    .other = other,
                    .direction = Claim::higher,
                    .ratio = true,
                    .for_the_better = false};
  };
  return {
      is_higher("Batch norm is worse at steps 21 to 30, which few cases reach, than at 1 to 10",
                {.variant = "batch", .quantity = late}, {.variant = "batch", .quantity = early}),
      is_higher("Layer norm is worse at steps 21 to 30 than at 1 to 10",
                {.variant = "layer", .quantity = late}, {.variant = "layer", .quantity = early}),
      is_higher("At steps 21 to 30 batch norm is worse than layer norm",
                {.variant = "batch", .quantity = late}, {.variant = "layer", .quantity = late}),
      is_higher("Padding inside the statistics makes batch norm worse there",
                {.variant = "batch with padding", .quantity = late}, {.variant = "batch", .quantity = late}),
      is_higher("Batch norm is worse at steps 31 to 60, beyond all training sequences, than at 21 to 30",
                {.variant = "batch", .quantity = beyond}, {.variant = "batch", .quantity = late}),
      is_higher("Layer norm is worse at steps 31 to 60 than at 21 to 30",
                {.variant = "layer", .quantity = beyond}, {.variant = "layer", .quantity = late}),
      is_higher("At steps 31 to 60 batch norm is worse than layer norm",
                {.variant = "batch", .quantity = beyond}, {.variant = "layer", .quantity = beyond})};
}

}  // namespace

Lab variable_length() {
  return {
      .name = "variable-length",
      .title = "Sequences of unequal length under batch norm",
      .sentence =
          "\"In RNN type cyclic networks, the longer the samples, the fewer effective samples, and the worse "
          "the BN effect\"; padded samples enter the mean and the variance; \"this is problematic if a test "
          "sequence is longer than any of the training sequences. Layer normalization does not have such "
          "problem\".",
      .source =
          "Batch normalization and layer normalization (a web page), on variable-length tasks; Layer "
          "Normalization (Ba, Kiros and Hinton 2016), Section 3.1",
      .setting =
          "An LSTM with 32 units follows y_t = 0.8 y_(t-1) + 0.6 x_t; x and y have variance 1, and a second "
          "input is always 1, without which layer norm would not see the size of x. Training: 600 updates "
          "with 32 sequences of 5 to 30 steps, of which few are long; padded steps do not enter batch norm's "
          "statistics, or do (with padding). Test: 1000 sequences of 60 steps, in use, that is with "
          "population statistics, those of step 30 from there on; with the statistics of each batch 100 "
          "batches as in training, and at each step the mean over the batches that have a case there, "
          "however many, of its cases' mean.",
      .measure = measure,
      .claims = variable_length_claims(),
      .charts = {{.title = "In use, by step",
                  .quantity = "error in use",
                  .x_label = "step",
                  .y_label = "mean squared error",
                  .log_y = true},
                 {.title = "With the statistics of each batch",
                  .quantity = "error by batch statistics",
                  .x_label = "step",
                  .y_label = "mean squared error, mean over batches",
                  .log_y = true},
                 {.title = "Who gets that far",
                  .quantity = "cases that reach a step",
                  .x_label = "step",
                  .y_label = "cases of 32"}},
  };
}

}  // namespace lamina::lab
