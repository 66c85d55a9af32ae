#include "models/lab/statistics/train_test.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"

namespace lamina::lab {

namespace {

constexpr size_t units = 64, part = 32;
constexpr size_t batch_sizes[] = {2, 4, 8, 16, 32, 64, 128, 256};

constexpr const char* of_layer = "difference of one layer";
constexpr const char* of_network = "difference of the logits";
constexpr const char* error_in_training = "error with training's statistics";
constexpr const char* error_in_use = "error in use";

BatchNormOptions plain(size_t batch) { return {.features = units, .variance = variance_for(batch)}; }

BatchNormOptions ghost(size_t batch) {
  BatchNormOptions options = plain(batch);
  options.part = part;
  return options;
}

/// Ioffe's limits.
BatchNormOptions renorm(size_t batch) {
  BatchNormOptions options = plain(batch);
  options.r_max = 3;
  options.d_max = 5;
  return options;
}

// --- A network on digits

/// The test cases in batches as in training, and again as in use.
void compare(DeepDigits& net, const DigitCases& test, size_t batch, const std::string& variant,
             Notes& notes) {
  const Tensor in_use = net.logits(test.images, Mode::evaluate);
  Tensor in_training(in_use.shape());
  for (size_t begin = 0; begin < test.labels.size(); begin += batch) {
    const Tensor logits = net.logits(test.images.slice(begin, begin + batch), Mode::evaluate_by_batch);
    std::ranges::copy(logits.values(), in_training.data() + begin * logits.columns());
  }
  const auto share_of_wrong = [&](const Tensor& logits) {
    return static_cast<double>(wrong_answers(logits, test.labels)) / static_cast<double>(test.labels.size());
  };
  const auto x = static_cast<double>(batch);
  notes.add(variant, of_network, x,
            rms_difference(in_training, in_use) / rms_difference(in_use, Tensor::zeros(in_use.shape())));
  notes.add(variant, error_in_training, x, share_of_wrong(in_training));
  notes.add(variant, error_in_use, x, share_of_wrong(in_use));
}

void measure_networks(std::uint64_t seed, bool quick, Notes& notes) {
  const MnistData data = synthetic_mnist(seed, quick ? 512 : 2048, 1, quick ? 256 : 1024);
  const DigitCases test = cases_of(data.test, 0, data.test.count());
  const DigitCases all = cases_of(data.train, 0, data.train.count());
  for (const Norm norm : {Norm::layer, Norm::batch, Norm::renorm, Norm::ghost})
    for (const size_t batch : batch_sizes) {
      if (norm == Norm::ghost && batch <= part) continue;
      DeepDigits net(data,
                     {.digits = {.norm = norm, .batch = batch, .seed = seed}, .depth = 2, .width = units});
      for (std::uint64_t step = 0; step < (quick ? 3 : 400); ++step) net.train(step);
      compare(net, test, batch, name_of(norm), notes);
      if (norm != Norm::batch) continue;
      measure_precisely(net, all.images);
      compare(net, test, batch, "batch with precise statistics", notes);
    }
}

void measure_layers(std::uint64_t seed, Notes& notes) {
  for (const size_t batch : batch_sizes) {
    const auto measured = [&](const std::string& variant, const BatchNormOptions& options, bool precise) {
      Random random(seed, batch);
      notes.add(variant, of_layer, static_cast<double>(batch),
                layer_difference(options, precise, batch, random));
    };
    measured("batch", plain(batch), false);
    measured("batch with precise statistics", plain(batch), true);
    measured("batch-renorm", renorm(batch), false);
    if (batch > part) measured("ghost-batch", ghost(batch), false);
  }
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  Notes notes(seed);
  const auto number = static_cast<std::uint64_t>(seed);
  measure_layers(number, notes);
  measure_networks(number, quick, notes);
  return notes.rows();
}

}  // namespace

double rms_difference(const Tensor& a, const Tensor& b) {
  return std::sqrt(static_cast<double>(mean_square(a - b).item()));
}

Tensor GaussianUnits::draw(size_t cases, Random& random) const {
  Tensor z({cases, mean.size()});
  random.fill_normal(z.data(), z.size(), 0, 1);
  return z * deviation + mean;
}

GaussianUnits gaussian_units(size_t count, Random& random) {
  GaussianUnits made{Tensor(Shape{count}), Tensor(Shape{count})};
  random.fill_normal(made.mean.data(), count, 0, 1);
  random.fill_uniform(made.deviation.data(), count, real(0.5), 2);
  return made;
}

double layer_difference(const BatchNormOptions& options, bool precise, size_t batch, Random& random) {
  constexpr size_t batches = 200;
  Parameters parameters(1);
  BatchNorm norm(parameters, "norm", options);
  const GaussianUnits inputs = gaussian_units(options.features, random);
  for (size_t i = 0; i < batches; ++i) norm(inputs.draw(batch, random), Mode::train);
  if (precise) {
    std::ranges::copy(inputs.mean.values(), norm.running_mean.data());
    std::ranges::transform(inputs.deviation.values(), norm.running_variance.data(),
                           [](real deviation) { return deviation * deviation; });
  }
  double squares = 0;
  for (size_t i = 0; i < batches; ++i) {
    const Tensor a = inputs.draw(batch, random);
    const double apart = rms_difference(norm(a, Mode::evaluate_by_batch), norm(a, Mode::evaluate));
    squares += apart * apart;
  }
  return std::sqrt(squares / batches);
}

void measure_precisely(DeepDigits& net, const Tensor& images) {
  std::vector<HiddenLayer> hidden;
  const std::vector<Parameters::Entry>& averages = net.parameters.state();
  for (size_t i = 0; i + 1 < averages.size(); i += 2) {
    net.logits(images, Mode::evaluate, hidden);
    const Tensor& a = hidden[i / 2].summed_inputs;
    Tensor running_mean = averages[i].value, running_variance = averages[i + 1].value;
    const Tensor mean = mean_rows(a), of_squares = mean_rows(square(a - mean));
    std::ranges::copy(mean.values(), running_mean.data());
    std::ranges::copy(of_squares.values(), running_variance.data());
  }
}

namespace {

std::vector<LabClaim> train_test_claims() {
  const auto at = [](const std::string& variant, const std::string& quantity, double x) {
    return LabNumber{.variant = variant, .quantity = quantity, .over = LabNumber::at_x, .x = x};
  };
  const std::string precise = "batch with precise statistics";
  /// That the first is higher, which is nothing good: `least` times, where that is not 0.
  const auto worse = [](const std::string& words, const LabNumber& subject, const LabNumber& other,
                        double least = 0) {
    return LabClaim{.words = words,
                    .subject = subject,
                    .other = other,
                    .direction = Claim::higher,
                    .least = least,
                    .ratio = least > 0,
                    .for_the_better = false};
  };
  return {worse("In one layer the difference at batches of 4 is above 3 times that at 256",
                at("batch", of_layer, 4), at("batch", of_layer, 256), 3),
          worse("In the network the difference at 4 is above 3 times that at 256", at("batch", of_network, 4),
                at("batch", of_network, 256), 3),
          {.words = "Layer norm's difference is that of rounding",
           .subject = {.variant = "layer", .quantity = of_network, .over = LabNumber::highest},
           .other = {.is = 1e-5},
           .in_each_seed = true},
          worse("At 4 the error with training's statistics is above that in use",
                at("batch", error_in_training, 4), at("batch", error_in_use, 4)),
          {.words = "Precise statistics halve the difference at 4",
           .subject = at(precise, of_network, 4),
           .other = at("batch", of_network, 4),
           .least = 2,
           .ratio = true},
          {.words = "Precise statistics lower the error in use at 4",
           .subject = at(precise, error_in_use, 4),
           .other = at("batch", error_in_use, 4)},
          {.words = "Batch renormalization halves the difference at 4",
           .subject = at("batch-renorm", of_network, 4),
           .other = at("batch", of_network, 4),
           .least = 2,
           .ratio = true},
          {.words = "Batch renormalization lowers the error in use at 4",
           .subject = at("batch-renorm", error_in_use, 4),
           .other = at("batch", error_in_use, 4)},
          {.words = "Ghost batch norm makes the difference at 256 larger",
           .subject = at("ghost-batch", of_network, 256),
           .other = at("batch", of_network, 256),
           .direction = Claim::higher,
           .ratio = true,
           .for_the_better = false},
          {.words = "Ghost batch norm lowers the error in use at 256",
           .subject = at("ghost-batch", error_in_use, 256),
           .other = at("batch", error_in_use, 256)},
          worse("At 4 batch norm's error in use is above layer norm's", at("batch", error_in_use, 4),
                at("layer", error_in_use, 4)),
          worse("At 256 batch norm's error in use is above layer norm's", at("batch", error_in_use, 256),
                at("layer", error_in_use, 256))};
}

}  // namespace

Lab train_test() {
  return {
      .name = "train-test",
      .title = "Batch norm in training and in use",
      .sentence =
          "\"There will be different strategies in the infer phase and the train phase\"; batches of "
          "training \"should not be too small\". Layer normalization \"performs exactly the same computation "
          "at training and test times\".",
      .source =
          "Batch normalization and layer normalization (a web page on both), on features of BN, items 3 and "
          "4; Layer Normalization (Ba, Kiros and Hinton 2016), Abstract",
      .setting =
          "One layer: 64 Gaussian units after 200 batches, the difference in deviations. Network: 784 - 64 - "
          "64 - 10 on 2048 built-in digits, 400 updates of Adam for each batch size; 1024 test digits with "
          "the statistics of such batches and in use, the logits' difference relative to their size. Ghost "
          "batch norm has parts of 32, batch renorm the limits 3 and 5.",
      .measure = measure,
      .claims = train_test_claims(),
      .charts = {{.title = "One layer",
                  .quantity = of_layer,
                  .x_label = "batch size",
                  .y_label = "difference in deviations",
                  .log_x = true},
                 {.title = "The network's logits",
                  .quantity = of_network,
                  .x_label = "batch size",
                  .y_label = "difference, relative",
                  .log_x = true},
                 {.title = "With the statistics of training",
                  .quantity = error_in_training,
                  .x_label = "batch size",
                  .y_label = "test error",
                  .log_x = true},
                 {.title = "In use",
                  .quantity = error_in_use,
                  .x_label = "batch size",
                  .y_label = "test error",
                  .log_x = true}},
  };
}

}  // namespace lamina::lab
