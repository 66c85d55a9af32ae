#include "models/lab/structure/dissect.h"

#include <cmath>

#include "core/math/random.h"
#include "core/ops.h"
#include "core/tape.h"
#include "models/data/mnist_data.h"
#include "models/lab/deep_digits.h"

namespace lamina::lab {

namespace {

struct Variant {
  const char* name;
  bool normalized;
  Constant constant;
};
constexpr Variant variants[] = {{"none", false, {}},
                                {"layer", true, {}},
                                {"layer with constant mean", true, {.mean = true}},
                                {"layer with constant deviation", true, {.deviation = true}},
                                {"layer with both constant", true, {.mean = true, .deviation = true}}};

/// dy_k / dW of one case: the derivatives for one output, [inputs x units].
std::vector<double> jacobian_row(const Tensor& x, const Tensor& weight, Constant constant, size_t unit) {
  Tensor w = weight.copy();
  w.require_gradient();
  Tape tape;
  const Tensor y = dissected_norm(matmul(x, w), constant);
  tape.backward(sum(slice(y, -1, unit, unit + 1)));
  const Tensor gradient = w.gradient();
  return {gradient.values().begin(), gradient.values().end()};
}

/// Close enough that no variant's best lies between two of them or at an end.
constexpr double rates[] = {0.01, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3};

/// The training loss at the best rate, by the mean of its last hundred updates, and the test error there.
struct Trained {
  double loss = INFINITY, error = INFINITY, rate = 0;
};

Trained train(const MnistData& data, const Variant& variant, double rate, std::uint64_t seed, bool quick) {
  DeepDigitsOptions options{.digits = {.batch = 32,
                                       .optimizer = OptimizerKind::sgd,
                                       .learning_rate = static_cast<real>(rate),
                                       .seed = seed},
                            .depth = 4,
                            .width = 64};
  if (variant.normalized)
    options.then = [&variant](const Tensor& a, size_t, Mode) { return dissected_norm(a, variant.constant); };
  DeepDigits model(data, options);
  const std::uint64_t updates = quick ? 4 : 500, counted = quick ? 2 : 100;
  double loss = 0;
  for (std::uint64_t step = 0; step < updates; ++step) {
    const double now = model.train(step);
    if (step + counted >= updates) loss += now / static_cast<double>(counted);
  }
  return {.loss = std::isfinite(loss) ? loss : INFINITY, .error = model.score(data.test).error, .rate = rate};
}

void look_at_weights(std::uint64_t seed, Notes& notes) {
  Random random(seed, 1);
  Tensor x({20, 6}), weight({6, 5});
  random.fill_normal(x.data(), x.size(), 0, 1);
  random.fill_normal(weight.data(), weight.size(), 0, 1);
  for (const Variant& variant : variants) {
    if (!variant.normalized) continue;
    const Curvature curvature = curvature_of(x, weight, variant.constant);
    notes.add(variant.name, "curvature along re-scaling of any", curvature.scaling / curvature.any);
    notes.add(variant.name, "curvature along re-centering of any", curvature.shifting / curvature.any);
  }
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  const auto number = static_cast<std::uint64_t>(seed);
  Notes notes(seed);
  look_at_weights(number, notes);
  const MnistData data = synthetic_mnist(number, quick ? 64 : 12800, 1, quick ? 64 : 1000);
  for (const Variant& variant : variants) {
    Trained best;
    for (const double rate : rates) {
      const Trained now = train(data, variant, rate, number, quick);
      notes.add(variant.name, "training loss by rate", rate, now.loss);
      if (best.rate == 0 || now.loss < best.loss) best = now;
    }
    notes.add(variant.name, "training loss", best.loss);
    notes.add(variant.name, "test error", best.error);
  }
  return notes.rows();
}

std::vector<LabClaim> dissect_claims() {
  const char* const scaling = "curvature along re-scaling of any";
  const char* const shifting = "curvature along re-centering of any";
  const auto seems = [](const std::string& words, const char* variant, const char* quantity,
                        Claim::Direction direction, double bound) {
    return LabClaim{.words = words,
                    .subject = {.variant = variant, .quantity = quantity},
                    .other = {.is = bound},
                    .direction = direction,
                    .in_each_seed = true};
  };
  const auto worse = [](const std::string& words, const char* variant, const char* other) {
    return LabClaim{.words = words,
                    .subject = {.variant = variant, .quantity = "training loss"},
                    .other = {.variant = other, .quantity = "training loss"},
                    .direction = Claim::higher,
                    .ratio = true,
                    .for_the_better = false};
  };
  return {
      seems("Layer norm has no curvature along re-scaling of the weights", "layer", scaling, Claim::lower,
            1e-6),
      seems("Layer norm has none along re-centering", "layer", shifting, Claim::lower, 1e-6),
      seems("With a constant mean there seems to be some along re-centering", "layer with constant mean",
            shifting, Claim::higher, 0.01),
      seems("With a constant deviation there still is none along re-centering",
            "layer with constant deviation", shifting, Claim::lower, 1e-6),
      seems("With a constant deviation there seems to be some along re-scaling",
            "layer with constant deviation", scaling, Claim::higher, 0.01),
      worse("With a constant mean the training loss is higher", "layer with constant mean", "layer"),
      worse("With a constant deviation it is higher", "layer with constant deviation", "layer"),
      worse("With both constant it is higher", "layer with both constant", "layer"),
      worse("With both constant it is higher than without normalization", "layer with both constant", "none"),
      worse("A constant deviation does more harm than a constant mean", "layer with constant deviation",
            "layer with constant mean")};
}

}  // namespace

Lab dissect() {
  return {
      .name = "dissect",
      .title = "Layer norm's backward pass in parts",
      .sentence =
          "Layer norm is \"invariant to scaling of the entire weight matrix and invariant to a shift to all "
          "of the incoming weights\": its Fisher matrix has no curvature along them. The backward pass owes "
          "that to the derivatives of the deviation and of the mean.",
      .source = "Layer Normalization (Ba, Kiros and Hinton 2016), Sections 5.1 and 5.2; Xu et al. (2019)",
      .setting =
          "A layer of 6 inputs and 5 units over 20 random cases: the Fisher matrix of its outputs with unit "
          "noise, as the backward pass sees it, along the weights themselves and along common shifts, "
          "relative to the mean of all directions. Built-in digits, four relu layers of 64 units, 500 "
          "updates of SGD with batches of 32, the best of eight rates: mean training loss of the last "
          "hundred.",
      .measure = measure,
      .claims = dissect_claims(),
      .charts = {{.title = "Training loss by rate",
                  .quantity = "training loss by rate",
                  .x_label = "learning rate",
                  .y_label = "mean training loss",
                  .log_x = true,
                  .log_y = true}},
  };
}

Tensor dissected_norm(const Tensor& a, Constant constant, real epsilon) {
  const Tensor mean = mean_columns(a);
  const Tensor deviation = sqrt(mean_columns(square(a - mean)) + epsilon);
  return (a - (constant.mean ? mean.detach() : mean)) / (constant.deviation ? deviation.detach() : deviation);
}

Curvature curvature_of(const Tensor& x, const Tensor& weight, Constant constant) {
  const size_t inputs = weight.rows(), units = weight.columns();
  Curvature all;
  double length = 0;
  for (const real w : weight.values()) length += static_cast<double>(w) * static_cast<double>(w);
  for (size_t n = 0; n < x.rows(); ++n)
    for (size_t k = 0; k < units; ++k) {
      const std::vector<double> row = jacobian_row(x.slice(n, n + 1), weight, constant, k);
      double along = 0;
      for (size_t j = 0; j < inputs; ++j) {
        double shift = 0;
        for (size_t i = 0; i < units; ++i) {
          const double derivative = row[j * units + i];
          along += derivative * static_cast<double>(weight.at(j, i));
          shift += derivative;
          all.any += derivative * derivative;
        }
        all.shifting += shift * shift / static_cast<double>(units);
      }
      all.scaling += along * along / length;
    }
  const auto cases = static_cast<double>(x.rows());
  return {.scaling = all.scaling / cases,
          .shifting = all.shifting / (cases * static_cast<double>(inputs)),
          .any = all.any / (cases * static_cast<double>(inputs * units))};
}

}  // namespace lamina::lab
