#include "models/lab/statistics/online.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/error.h"
#include "core/math/random.h"
#include "core/ops.h"
#include "core/tape.h"
#include "layers/norms/batch_norm.h"
#include "layers/norms/layer_norm.h"
#include "models/evidence/interval.h"
#include "models/lab/deep_digits.h"

namespace lamina::lab {

namespace {

constexpr size_t units = 64, windows = 8;
constexpr double rates[] = {0.003, 0.006, 0.01, 0.018, 0.03, 0.1, 0.3};
constexpr Norm schemes[] = {Norm::none, Norm::weight, Norm::rms, Norm::layer};

constexpr const char* learned = "cases learned from";
constexpr const char* dependence = "dependence on the case";
constexpr const char* in_window = "wrong in the window";
constexpr const char* in_all = "wrong over all cases";

/// All rates, and the course of the best.
void measure_scheme(const MnistData& data, Norm norm, std::uint64_t seed, Notes& notes) {
  const std::string name = name_of(norm);
  OnlineRun best;
  for (const double rate : rates) {
    const OnlineRun run =
        learn_online(data, {.norm = norm, .learning_rate = static_cast<real>(rate), .seed = seed});
    notes.add(name, in_all, rate, moments_of(run.wrong).mean);
    if (best.wrong.empty() || moments_of(run.wrong).mean < moments_of(best.wrong).mean) best = run;
  }
  notes.add(name, learned, static_cast<double>(best.wrong.size()));
  const size_t window = best.wrong.size() / windows;
  for (size_t i = 0; i < windows; ++i)
    notes.add(name, in_window, static_cast<double>((i + 1) * window),
              moments_of(std::span<const double>(best.wrong).subspan(i * window, window)).mean);
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  const auto number = static_cast<std::uint64_t>(seed);
  Notes notes(seed);
  const MnistData data = synthetic_mnist(number, quick ? 80 : 4000, 1, 1);
  for (const Norm norm : schemes) measure_scheme(data, norm, number, notes);
  notes.add("batch", learned,
            static_cast<double>(learn_online(data, {.norm = Norm::batch, .seed = number}).wrong.size()));
  Tensor a({200, units});
  Random(number).fill_normal(a.data(), a.size(), 0, 1);
  for (const Norm norm : {Norm::batch, Norm::rms, Norm::layer})
    notes.add(name_of(norm), dependence, dependence_on_case(norm, a));
  return notes.rows();
}

/// One case [1 x units] by itself.
Tensor normalized(Norm norm, const Tensor& a) {
  const Tensor ones = Tensor::ones({a.columns()}), zeros = Tensor::zeros({a.columns()});
  if (norm == Norm::batch) return batch_norm(a, ones, zeros);
  if (norm == Norm::rms) return rms_norm(a, ones);
  require_norm("online", norm, {Norm::batch, Norm::rms, Norm::layer});
  return layer_norm(a, ones, zeros);
}

}  // namespace

OnlineRun learn_online(const MnistData& data, const OnlineOptions& options) {
  DeepDigits net(data, {.digits = {.norm = options.norm,
                                   .batch = 1,
                                   .optimizer = OptimizerKind::sgd,
                                   .learning_rate = options.learning_rate,
                                   .seed = options.seed},
                        .depth = 2,
                        .width = units});
  OnlineRun run;
  for (size_t i = 0; i < data.train.count(); ++i) {
    const DigitCases one = cases_of(data.train, i, 1);
    try {
      Tape tape;
      const Tensor logits = net.logits(one.images, Mode::train);
      run.wrong.push_back(static_cast<double>(wrong_answers(logits, one.labels)));
      tape.backward(cross_entropy(logits, one.labels));
      net.optimizer().step();
    } catch (const Error& error) {
      run.refusal = error.what();
      return run;
    }
  }
  return run;
}

double dependence_on_case(Norm norm, const Tensor& a) {
  Tensor y(a.shape());
  for (size_t i = 0; i < a.rows(); ++i) {
    const Tensor one = normalized(norm, a.slice(i, i + 1));
    std::ranges::copy(one.values(), y.data() + i * a.columns());
  }
  return std::sqrt(static_cast<double>(mean_square(y - mean_rows(y)).item()));
}

Lab online() {
  const auto best = [](const std::string& variant) {
    return LabNumber{.variant = variant, .quantity = in_all, .over = LabNumber::lowest};
  };
  const auto fewer = [&](const std::string& words, const std::string& variant) {
    return LabClaim{.words = words, .subject = best("layer"), .other = best(variant)};
  };
  return {
      .name = "online",
      .title = "Batch size 1 from the first case on",
      .sentence =
          "\"Unlike batch normalization, layer normalization does not impose any constraint on the size of a "
          "mini-batch and it can be used in the pure online regime with batch size 1.\"",
      .source = "Layer Normalization (Ba, Kiros and Hinton 2016), Section 3",
      .setting =
          "784 - 64 - 64 - 10 with relu on 4000 built-in digits, each seen once: the network answers, then "
          "learns from the case by SGD without momentum. Rates 0.003 to 0.3; the best of each scheme counts. "
          "The dependence on the case is the deviation, over 200 Gaussian cases, of outputs that are "
          "normalized a case at a time.",
      .measure = measure,
      .claims = {{.words = "Batch norm refuses the first case",
                  .subject = {.variant = "batch", .quantity = learned},
                  .other = {.is = 0.5},
                  .for_the_better = false,
                  .in_each_seed = true},
                 {.words = "By its formula it would forget which case it was",
                  .subject = {.variant = "batch", .quantity = dependence},
                  .other = {.is = 1e-6},
                  .for_the_better = false,
                  .in_each_seed = true},
                 {.words =
                      "Layer norm learns: in the last eighth it errs less than a third as often as guessing",
                  .subject = {.variant = "layer", .quantity = in_window},
                  .other = {.is = 0.9},
                  .least = 3,
                  .ratio = true},
                 fewer("Over all cases layer norm errs less than no normalization", "none"),
                 fewer("Over all cases layer norm errs less than weight norm", "weight"),
                 fewer("Over all cases layer norm errs less than RMS norm", "rms"),
                 {.words = "In the first eighth layer norm errs less than no normalization",
                  .subject = {.variant = "layer", .quantity = in_window, .over = LabNumber::first},
                  .other = {.variant = "none", .quantity = in_window, .over = LabNumber::first}},
                 {.words = "At a rate of 0.1 layer norm errs less than no normalization",
                  .subject = {.variant = "layer", .quantity = in_all, .over = LabNumber::at_x, .x = 0.1},
                  .other = {.variant = "none", .quantity = in_all, .over = LabNumber::at_x, .x = 0.1}}},
      .charts = {{.title = "Each scheme at its best rate",
                  .quantity = in_window,
                  .x_label = "cases seen",
                  .y_label = "share of wrong answers, window of 500"},
                 {.title = "By learning rate",
                  .quantity = in_all,
                  .x_label = "learning rate",
                  .y_label = "share of wrong answers, all cases",
                  .log_x = true}},
  };
}

}  // namespace lamina::lab
