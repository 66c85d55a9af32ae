#include "models/lab/statistics/noise.h"

#include <cmath>

#include "core/ops.h"
#include "core/tape.h"
#include "models/data/digits.h"
#include "models/training/digit_experiment.h"
#include "optim/adam.h"

namespace lamina::lab {

namespace {

constexpr size_t batch = 16, width = 64, updates = 2000, looks = 8;
constexpr size_t sizes[] = {96, 192, 384, 768};  // of training sets: whole batches
constexpr size_t curve_of = 192;

/// Two, as the effect may depend on the learning rate.
struct Rate {
  real value;
  const char* suffix;  ///< of quantities
};
constexpr Rate rates[] = {{real(1e-3), ""}, {real(3e-3), " at rate 0.003"}};

const std::vector<NoiseVariant>& variants() {
  static const std::vector<NoiseVariant> all{
      {"none"},
      {"batch", Norm::batch, batch},
      {"batch in parts of 4", Norm::batch, 4},
      {"batch over all cases", Norm::batch, 0},
      {"batch over all cases with noise", Norm::batch, 0, batch},
      {"layer", Norm::layer},
      {"layer with noise", Norm::layer, 0, batch},
      {"layer with more noise", Norm::layer, 0, 4},
      {"none with dropout", Norm::none, 0, 0, 0.5},
      {"batch with dropout", Norm::batch, batch, 0, 0.5},
      {"batch over all cases with dropout", Norm::batch, 0, 0, 0.5},
      {"layer with dropout", Norm::layer, 0, 0, 0.5},
  };
  return all;
}

double share_of_wrong(const Tensor& logits, std::span<const int> labels) {
  return static_cast<double>(wrong_answers(logits, labels)) / static_cast<double>(labels.size());
}

/// The cases of these numbers.
SmallDigits chosen(const SmallDigits& all, std::span<const int> numbers) {
  SmallDigits some{gather(all.x, numbers), {}};
  for (const int i : numbers) some.labels.push_back(all.labels[static_cast<size_t>(i)]);
  return some;
}

/// The loss of the batch from row `begin` of an epoch on, whose cases lie in their order there.
Tensor batch_loss(NoiseNet& net, const NoiseVariant& variant, const SmallDigits& epoch, size_t begin,
                  Random& random) {
  const std::span<const int> labels = std::span(epoch.labels).subspan(begin, batch);
  if (variant.norm == Norm::batch && variant.part == 0)
    return cross_entropy(slice(net.train(epoch.x, random), 0, begin, begin + batch), labels);
  return cross_entropy(net.train(epoch.x.slice(begin, begin + batch), random), labels);
}

struct Sets {
  SmallDigits train, test;
};

void run(const NoiseVariant& variant, const Sets& sets, const Rate& rate, std::uint64_t seed, bool quick,
         Notes& notes) {
  NoiseNet net(variant, sets.train.x.columns(), width, seed);
  Adam adam(net.parameters, {.learning_rate = rate.value});
  Random orders(seed, 1), random(seed, 2);
  const size_t count = sets.train.labels.size(), batches = count / batch;
  const size_t between = quick ? 1 : updates / looks;
  const std::string suffix = rate.suffix;
  SmallDigits epoch;
  double error = 0, loss = 0;
  for (size_t i = 0; i < between * looks; ++i) {
    if (i % batches == 0) epoch = chosen(sets.train, orders.permutation(count));
    {
      Tape tape;
      tape.backward(batch_loss(net, variant, epoch, i % batches * batch, random));
      adam.step();
    }
    if ((i + 1) % between != 0) continue;
    net.measure_population(sets.train.x);
    const Tensor logits = net.use(sets.test.x);
    error = share_of_wrong(logits, sets.test.labels);
    loss = static_cast<double>(cross_entropy(logits, sets.test.labels).item());
    if (count == curve_of)
      notes.add(variant.name, "test loss by update" + suffix, static_cast<double>(i + 1), loss);
  }
  const auto n = static_cast<double>(count);
  const Tensor fitted = net.use(sets.train.x);
  notes.add(variant.name, "test error" + suffix, n, error);
  notes.add(variant.name, "test loss" + suffix, n, loss);
  notes.add(variant.name, "training error" + suffix, n, share_of_wrong(fitted, sets.train.labels));
  notes.add(variant.name, "training loss" + suffix, n,
            static_cast<double>(cross_entropy(fitted, sets.train.labels).item()));
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  const auto number = static_cast<std::uint64_t>(seed);
  Notes notes(seed);
  const SmallDigits test = small_digits(quick ? 50 : 2000, 1'000'000 + number);
  for (const size_t count : sizes) {
    const Sets sets{small_digits(count, number), test};
    for (const Rate& rate : rates)
      for (const NoiseVariant& variant : variants()) run(variant, sets, rate, number, quick, notes);
  }
  return notes.rows();
}

}  // namespace

PartNoise draw_part_noise(size_t rows, size_t units, size_t k, Random& random) {
  PartNoise noise{Tensor({rows, units}), Tensor({rows, units})};
  const real deviation = 1 / std::sqrt(static_cast<real>(k));
  std::vector<real> scale(units), shift(units);
  for (size_t r = 0; r < rows; ++r) {
    if (r % k == 0) {
      random.fill_normal(scale.data(), units, 1, deviation / std::sqrt(real(2)));
      random.fill_normal(shift.data(), units, 0, deviation);
    }
    std::copy(scale.begin(), scale.end(), noise.scale.data() + r * units);
    std::copy(shift.begin(), shift.end(), noise.shift.data() + r * units);
  }
  return noise;
}

NoiseNet::NoiseNet(const NoiseVariant& variant, size_t input, size_t units, std::uint64_t seed)
    : parameters(seed), variant_(variant), dropout_(static_cast<real>(variant.dropout)) {
  for (size_t l = 0; l < 2; ++l) {
    const std::string name = "hidden" + std::to_string(l + 1);
    Layer layer{Linear(parameters, name,
                       {.input = l == 0 ? input : units,
                        .output = units,
                        .bias = variant.norm == Norm::none,
                        .initial = he()})};
    // Momentum 1: the population's statistics are those of the last batch, see measure_population().
    if (variant.norm == Norm::batch)
      layer.batch.emplace(parameters, name + ".norm",
                          BatchNormOptions{.features = units, .momentum = 1, .part = variant.part});
    if (variant.norm == Norm::layer)
      layer.layer.emplace(parameters, name + ".norm", LayerNormOptions{.features = units});
    layers_.push_back(layer);
  }
  output_.emplace(parameters, "logits", LinearOptions{.input = units, .output = 10});
}

/// `random` is that of training; without it there is no noise.
Tensor NoiseNet::normalize(Layer& layer, const Tensor& a, Mode mode, Random* random) const {
  if (variant_.norm == Norm::none) return a;
  Tensor y = layer.batch ? (*layer.batch)(a, mode) : (*layer.layer)(a);
  if (variant_.noise == 0 || random == nullptr) return y;
  const Tensor &gain = layer.batch ? layer.batch->gain : layer.layer->gain,
               &bias = layer.batch ? layer.batch->bias : layer.layer->bias;
  const PartNoise drawn = draw_part_noise(a.rows(), a.columns(), variant_.noise, *random);
  return (y - bias) * drawn.scale + gain * drawn.shift + bias;  // gain (N scale + shift) + bias
}

Tensor NoiseNet::logits(const Tensor& x, Mode mode, Random* random) {
  Tensor h = x;
  for (Layer& layer : layers_) {
    h = relu(normalize(layer, layer.linear(h), mode, random));
    if (random != nullptr) h = dropout_(h, mode, *random);
  }
  return (*output_)(h);
}

Tensor NoiseNet::train(const Tensor& x, Random& random) { return logits(x, Mode::train, &random); }

void NoiseNet::measure_population(const Tensor& x) {
  for (Layer& layer : layers_)
    if (layer.batch) layer.batch->options.part = 0;
  logits(x, Mode::train, nullptr);
  for (Layer& layer : layers_)
    if (layer.batch) layer.batch->options.part = variant_.part;
}

Tensor NoiseNet::use(const Tensor& x) { return logits(x, Mode::evaluate, nullptr); }

SmallDigits small_digits(size_t count, std::uint64_t seed) {
  const Digits digits = draw_digits(count, seed);
  constexpr size_t side = digit_side / 2;
  SmallDigits small{Tensor::zeros({count, side * side}), digits.labels};
  real* const x = small.x.data();
  for (size_t i = 0; i < digits.pixels.size(); ++i) {
    const size_t image = i / digit_pixels, row = i % digit_pixels / digit_side, column = i % digit_side;
    x[(image * side + row / 2) * side + column / 2] += static_cast<real>(digits.pixels[i]) / 4;
  }
  return small;
}

namespace {

std::vector<LabClaim> noise_claims() {
  // Claims are about the mean over the training sets.
  const auto claim = [](const std::string& words, const std::string& subject, const std::string& other,
                        const std::string& quantity = "test error") {
    return LabClaim{.words = words,
                    .subject = {.variant = subject, .quantity = quantity, .over = LabNumber::mean},
                    .other = {.variant = other, .quantity = quantity, .over = LabNumber::mean},
                    .direction = Claim::lower,
                    .ratio = true};
  };
  return {
      claim("Batch norm's noise lowers the test error", "batch", "batch over all cases"),
      claim("Batch norm's noise lowers the test loss", "batch", "batch over all cases", "test loss"),
      claim("The noise of parts of 4 lowers the test error further", "batch in parts of 4", "batch"),
      claim("Batch norm without it gains from the same noise added by hand",
            "batch over all cases with noise", "batch over all cases"),
      claim("That noise by hand lowers the test error of layer norm", "layer with noise", "layer"),
      claim("The noise of parts of 4, by hand, lowers that of layer norm", "layer with more noise", "layer"),
      claim("Batch norm has a lower test error than no normalization", "batch", "none"),
      claim("Batch norm without its noise has a lower one than no normalization", "batch over all cases",
            "none"),
      claim("Batch norm has a lower test error than layer norm", "batch", "layer"),
      claim("At rate 0.003, batch norm's noise lowers the test error", "batch", "batch over all cases",
            "test error at rate 0.003"),
      claim("At rate 0.003, batch norm's noise lowers the test loss", "batch", "batch over all cases",
            "test loss at rate 0.003"),
      claim("At rate 0.003, batch norm without it gains from noise by hand",
            "batch over all cases with noise", "batch over all cases", "test error at rate 0.003"),
      claim("At rate 0.003, noise by hand lowers the test error of layer norm", "layer with noise", "layer",
            "test error at rate 0.003"),
      claim("Dropout lowers the test error without normalization", "none with dropout", "none"),
      claim("Dropout lowers the test error of layer norm", "layer with dropout", "layer"),
      claim("Dropout lowers the test error of batch norm", "batch with dropout", "batch"),
      claim("With dropout, batch norm's noise lowers the test error", "batch with dropout",
            "batch over all cases with dropout")};
}

}  // namespace

Lab noise() {
  return {
      .name = "noise",
      .title = "Batch norm's noise as a regularizer",
      .sentence =
          "\"In addition to training time improvement, the stochasticity from the batch statistics serves as "
          "a regularizer during training.\"",
      .source = "Layer Normalization (Ba, Kiros and Hinton 2016), Section 1",
      .setting =
          "A network 196 - 64 - 64 - 10 learns 96, 192, 384 or 768 built-in digits of 14 x 14 in 2000 "
          "updates of Adam (rate 0.001, also 0.003) with batches of 16; 2000 others are the test. Batch norm "
          "takes its statistics from the batch, from parts of 4, or from all training cases (no noise); in "
          "use from all. By hand each unit's normalized value gets the noise that statistics of 16 or (more) "
          "4 cases have. Dropout of 0.5 behind each relu. Claims compare means over the four training sets.",
      .measure = measure,
      .claims = noise_claims(),
      .charts = {{.title = "Batch norm's noise",
                  .quantity = "test error",
                  .x_label = "training cases",
                  .y_label = "test error",
                  .variants = {"none", "batch", "batch in parts of 4", "batch over all cases",
                               "batch over all cases with noise"}},
                 {.title = "Noise by hand",
                  .quantity = "test error",
                  .x_label = "training cases",
                  .y_label = "test error",
                  .variants = {"none", "layer", "layer with noise", "layer with more noise"}},
                 {.title = "With dropout",
                  .quantity = "test error",
                  .x_label = "training cases",
                  .y_label = "test error",
                  .variants = {"none with dropout", "batch with dropout", "batch over all cases with dropout",
                               "layer with dropout"}},
                 {.title = "Overfitting of 192 cases",
                  .quantity = "test loss by update",
                  .x_label = "update",
                  .y_label = "test loss",
                  .variants = {"none", "batch", "batch over all cases", "layer", "layer with noise"}}},
  };
}

}  // namespace lamina::lab
