#include "models/lab/optimization/shift.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "core/ops.h"
#include "core/tape.h"
#include "models/lab/deep_digits.h"
#include "models/lab/optimization/drift.h"

namespace lamina::lab {

namespace {

constexpr size_t depth = 8, width = 64, batch = 64, probes = 250;
constexpr auto rate = real(0.1);

const char* const correlation = "correlation of two units' changes";
const char* const over_units = "share in layer norm's statistics";
const char* const over_cases = "share in batch norm's statistics";
const char* const training_loss = "training loss";
const char* const drift_of_mean = "drift of the mean";
const char* const drift_of_deviation = "drift of the deviation";
const char* const gradient_distance = "change of the gradient";
const char* const gradient_cosine = "cosine of the gradients";
const char* const rank = "rank correlation of drift and training loss";

DeepDigitsOptions options_of(Norm norm, std::uint64_t seed) {
  return {.digits = {.norm = norm,
                     .batch = batch,
                     .optimizer = OptimizerKind::sgd,
                     .learning_rate = rate,
                     .seed = seed},
          .depth = depth,
          .width = width};
}

// --- One layer's weights change

double length_of(const Tensor& x) { return std::sqrt(static_cast<double>(sum(square(x)).item())); }

/// The next layer's summed inputs when the weights of layer l move by a hundredth of their length.
CommonChange change_layer(DeepDigits& net, const DigitCases& probe, size_t l, const Tensor& direction) {
  std::vector<HiddenLayer> before, after;
  net.logits(probe.images, Mode::evaluate, before);
  Tensor weight = net.weight(l);
  const Tensor kept = weight.copy();
  const Tensor moved = kept - direction * static_cast<real>(0.01 * length_of(kept) / length_of(direction));
  std::ranges::copy(moved.values(), weight.data());
  net.logits(probe.images, Mode::evaluate, after);
  std::ranges::copy(kept.values(), weight.data());
  return common_change(before[l + 1].summed_inputs, after[l + 1].summed_inputs);
}

/// Every layer below the last hidden one, in the direction of an update and, with relu, in a random one.
void change_layers(const MnistData& data, std::uint64_t seed, Notes& notes) {
  const DigitCases probe = cases_of(data.valid, 0, probes);
  const std::tuple<const char*, Tensor (*)(const Tensor&), bool> variants[] = {
      {"relu", relu, true},
      {"relu with a random change", relu, false},
      {"tanh", tanh, true},
      {"linear", [](const Tensor& a) { return a; }, true}};
  for (const auto& [name, function, update] : variants) {
    DeepDigitsOptions options = options_of(Norm::none, seed);
    options.function = function;
    DeepDigits net(data, options);
    Tape tape;
    tape.backward(cross_entropy(net.logits(probe.images, Mode::evaluate), probe.labels));
    for (size_t l = 0; l + 1 < depth; ++l) {
      Tensor direction = net.weight(l).gradient();
      if (!update) Random(seed, l).fill_normal(direction.data(), direction.size(), 0, 1);
      const CommonChange change = change_layer(net, probe, l, direction);
      const auto layer = static_cast<double>(l + 1);
      notes.add(name, correlation, layer, change.correlation);
      notes.add(name, over_units, layer, change.over_units);
      notes.add(name, over_cases, layer, change.over_cases);
    }
  }
}

// --- Training

/// Noise behind the normalization whose distribution is another one at every update, so that no layer above can follow
/// it: every unit is scaled and moved by random numbers.
struct Noise {
  std::uint64_t seed;
  std::uint64_t step = 0;

  Tensor operator()(const Tensor& normalized, size_t layer) const {
    constexpr std::uint64_t noise_stream = 0x6e6f697365;
    Random random = Random(seed, noise_stream).split(step).split(layer);
    Tensor scale({normalized.columns()}), move({normalized.columns()});
    random.fill_uniform(scale.data(), scale.size(), 1, real(1.25));
    random.fill_uniform(move.data(), move.size(), real(-0.5), real(0.5));
    return normalized * scale + move;
  }
};

/// A network in training, and the means over its layers of how an update shifts what they get.
class Watched {
 public:
  struct Shift {
    Drift drift = {};             ///< of what the layers' f gets
    GradientShift gradient = {};  ///< of all layers but the first, which has none below
  };

  Watched(const MnistData& data, Norm norm, bool noisy, std::uint64_t seed)
      : noise_(std::make_shared<Noise>(Noise{seed})),
        probe_(cases_of(data.valid, 0, probes)),
        net_(data, with_noise(options_of(norm, seed), noisy)) {}

  double train(std::uint64_t step) {
    noise_->step = step;
    return net_.train(step);
  }

  /// Trains the step, and looks before and after.
  Shift train_and_look(std::uint64_t step, double& loss) {
    const std::vector<real> old = values();
    const Look before = look(step);
    loss = train(step);
    const std::vector<real> now = values();
    const Look after = look(step + 1);
    Shift shift{.gradient = {.cosine = 0}};
    for (size_t l = 0; l < depth; ++l) {
      const Drift drift = drift_between(before.hidden[l].seen, after.hidden[l].seen);
      shift.drift.mean += drift.mean / depth;
      shift.drift.deviation += drift.deviation / depth;
      if (l == 0) continue;
      restore(old, first_value_of(l));  // the layers below are updated, this one and those above are not
      const GradientShift gradient = gradient_shift(before.gradients[l], look(step + 1).gradients[l]);
      shift.gradient.distance += gradient.distance / (depth - 1);
      shift.gradient.cosine += gradient.cosine / (depth - 1);
      restore(now, 0);
    }
    return shift;
  }

 private:
  /// What the probes see when a step begins.
  struct Look {
    std::vector<HiddenLayer> hidden;
    std::vector<Tensor> gradients;  ///< of every hidden layer's weights
  };

  Look look(std::uint64_t step) {
    noise_->step = step;
    Look all;
    Tape tape;
    tape.backward(
        cross_entropy(net_.logits(probe_.images, Mode::evaluate_by_batch, all.hidden), probe_.labels));
    for (size_t l = 0; l < depth; ++l) all.gradients.push_back(net_.weight(l).gradient());
    net_.parameters.clear_gradients();
    return all;
  }

  DeepDigitsOptions with_noise(DeepDigitsOptions options, bool noisy) const {
    if (noisy)
      options.then = [noise = noise_](const Tensor& a, size_t layer, Mode) { return (*noise)(a, layer); };
    return options;
  }

  std::vector<real> values() { return {net_.parameters.values().begin(), net_.parameters.values().end()}; }
  void restore(const std::vector<real>& from, size_t first) {
    std::copy(from.begin() + static_cast<std::ptrdiff_t>(first), from.end(),
              net_.parameters.values().begin() + static_cast<std::ptrdiff_t>(first));
  }
  /// Where the parameters of a hidden layer begin: its weights are its first.
  size_t first_value_of(size_t layer) const {
    const auto& all = net_.parameters.learned();
    const auto found = std::ranges::find_if(
        all, [&](const auto& entry) { return entry.value.storage() == net_.weight(layer).storage(); });
    return net_.parameters.offset(static_cast<size_t>(found - all.begin()));
  }

  std::shared_ptr<Noise> noise_;
  DigitCases probe_;
  DeepDigits net_;
};

struct Variant {
  const char* name;
  Norm norm;
  bool noisy;
};
constexpr Variant variants[] = {{"none", Norm::none, false},
                                {"batch", Norm::batch, false},
                                {"batch with noise", Norm::batch, true},
                                {"layer", Norm::layer, false},
                                {"layer with noise", Norm::layer, true}};

void train_variants(const MnistData& data, std::uint64_t seed, bool quick, Notes& notes) {
  const size_t periods = quick ? 2 : 20, period = quick ? 5 : 50;
  std::vector<double> drifts, losses;
  for (const Variant& variant : variants) {
    Watched watched(data, variant.norm, variant.noisy, seed);
    double drift_sum = 0, loss_sum = 0;
    for (size_t p = 0; p < periods; ++p) {
      double loss = 0, last = 0;
      for (size_t step = p * period; step + 1 < (p + 1) * period; ++step) loss += watched.train(step);
      const Watched::Shift shift = watched.train_and_look((p + 1) * period - 1, last);
      loss = (loss + last) / static_cast<double>(period);
      const auto x = static_cast<double>((p + 1) * period);
      notes.add(variant.name, training_loss, x, loss);
      notes.add(variant.name, drift_of_mean, x, shift.drift.mean);
      notes.add(variant.name, drift_of_deviation, x, shift.drift.deviation);
      notes.add(variant.name, gradient_distance, x, shift.gradient.distance);
      notes.add(variant.name, gradient_cosine, x, shift.gradient.cosine);
      drift_sum += shift.drift.mean;
      loss_sum += loss;
    }
    drifts.push_back(drift_sum);
    losses.push_back(loss_sum);
  }
  notes.add("all five", rank, rank_correlation(drifts, losses));
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  Notes notes(seed);
  const auto number = static_cast<std::uint64_t>(seed);
  const MnistData data = synthetic_mnist(number, quick ? 640 : 12800, probes, 1);
  change_layers(data, number, notes);
  train_variants(data, number, quick, notes);
  return notes.rows();
}

LabNumber mean_of(const std::string& variant, const std::string& quantity) {
  return {.variant = variant, .quantity = quantity, .over = LabNumber::mean};
}

std::vector<LabClaim> shift_claims() {
  return {
      {.words = "With relu, an update changes two units of the next layer more alike than independent "
                "changes are (mean size of their correlation above 0.05)",
       .subject = mean_of("relu", correlation),
       .other = {.is = 0.05},
       .direction = Claim::higher},
      {.words = "With relu it changes them more alike than with tanh",
       .subject = mean_of("relu", correlation),
       .other = mean_of("tanh", correlation),
       .direction = Claim::higher},
      {.words = "With relu more of the change than with tanh is one of the mean and the variance that layer "
                "norm fixes",
       .subject = mean_of("relu", over_units),
       .other = mean_of("tanh", over_units),
       .direction = Claim::higher},
      {.words = "With batch norm the inputs of the units drift less than without normalization",
       .subject = mean_of("batch", drift_of_mean),
       .other = mean_of("none", drift_of_mean)},
      {.words = "With layer norm the inputs of the units drift less than without normalization",
       .subject = mean_of("layer", drift_of_mean),
       .other = mean_of("none", drift_of_mean)},
      {.words = "With batch norm the updates below change a layer's gradient less than without normalization",
       .subject = mean_of("batch", gradient_distance),
       .other = mean_of("none", gradient_distance)},
      {.words = "With noise behind batch norm the inputs of the units drift more than without normalization",
       .subject = mean_of("batch with noise", drift_of_mean),
       .other = mean_of("none", drift_of_mean),
       .direction = Claim::higher},
      {.words = "With noise behind it, batch norm learns faster than no normalization nevertheless (mean "
                "training loss)",
       .subject = mean_of("batch with noise", training_loss),
       .other = mean_of("none", training_loss)},
      {.words = "Of the five networks, those that drift more learn slower (rank correlation above 0)",
       .subject = {.variant = "all five", .quantity = rank},
       .other = {.is = 0},
       .direction = Claim::higher}};
}

}  // namespace

Lab shift() {
  return {
      .name = "shift",
      .title = "Covariate shift, and whether it slows learning",
      .sentence =
          "\"Changes in the output of one layer will tend to cause highly correlated changes in the summed "
          "inputs to the next layer, especially with ReLU units\"; fixing their mean and variance reduces "
          "this \"covariate shift\", and that speeds up learning.",
      .source =
          "Layer Normalization (Ba, Kiros and Hinton 2016), Sections 2 and 3; against it Santurkar et al. "
          "2018, \"How does batch normalization help optimization?\"",
      .setting =
          "Built-in digits, eight relu layers of 64 units. First, without normalization and before training, "
          "one layer's weights move by a hundredth of their length along their gradient. Then 1000 updates "
          "of SGD with rate 0.1 and batches of 64; at every 50th, 250 other cases see the network before and "
          "after it. Noise: behind the normalization every unit is scaled by 1 to 1.25 and moved by -0.5 to "
          "0.5, with numbers that are drawn anew for every update.",
      .measure = measure,
      .claims = shift_claims(),
      .charts = {{.title = "How alike an update's changes are",
                  .quantity = correlation,
                  .x_label = "layer that is updated",
                  .y_label = "mean size of the correlation"},
                 {.title = "What layer norm takes out of them",
                  .quantity = over_units,
                  .x_label = "layer that is updated",
                  .y_label = "share of the change"},
                 {.title = "Drift of the units' inputs",
                  .quantity = drift_of_mean,
                  .x_label = "update",
                  .y_label = "deviations per update",
                  .log_y = true},
                 {.title = "Learning",
                  .quantity = training_loss,
                  .x_label = "update",
                  .y_label = "training loss [nats]",
                  .log_y = true}},
  };
}

}  // namespace lamina::lab
