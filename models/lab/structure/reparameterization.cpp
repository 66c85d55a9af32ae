#include "models/lab/structure/reparameterization.h"

#include <algorithm>
#include <cmath>

#include "core/math/random.h"
#include "core/ops.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/weight_norm.h"
#include "models/analysis/larger.h"
#include "models/lab/structure/affine_fit.h"

namespace lamina::lab {

namespace {

constexpr size_t inputs = 20, units = 32, outputs = 10;

Tensor normal(const Shape& shape, Random& random) {
  Tensor x(shape);
  random.fill_normal(x.data(), x.size(), 0, 1);
  return x;
}

/// Gains about 1 and biases about 0, as a trained network has them.
void disturb(Tensor gain, Tensor bias, Random& random) {
  random.fill_normal(gain.data(), gain.size(), 1, real(0.3));
  random.fill_normal(bias.data(), bias.size(), 0, real(0.5));
}

Tensor plain_network(const std::vector<PlainLayer>& layers, Tensor x) {
  for (size_t i = 0; i + 1 < layers.size(); ++i) x = tanh(layers[i](x));
  return layers.back()(x);
}

// --- Whole networks

double weight_norm_network(const Tensor& x, std::uint64_t seed) {
  Parameters parameters(seed);
  Random random(seed, 1);
  std::vector<Linear> layers;
  std::vector<PlainLayer> plain;
  const std::vector<size_t> sizes{inputs, units, units, outputs};
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    layers.emplace_back(
        parameters, text("layer", i),
        LinearOptions{.input = sizes[i], .output = sizes[i + 1], .bias = true, .weights = Norm::weight});
    disturb(layers[i].gain, layers[i].bias, random);
    plain.push_back(folded(layers[i]));
  }
  Tensor h = x;
  for (size_t i = 0; i + 1 < layers.size(); ++i) h = tanh(layers[i](h));
  return relative_difference(layers.back()(h), plain_network(plain, x));
}

struct BatchNormDifference {
  double in_use, in_training;  ///< to the plain network
};

/// The expected statistics are running averages over batches; x is one batch of them.
BatchNormDifference batch_norm_network(const Tensor& x, std::uint64_t seed, size_t batches) {
  Parameters parameters(seed);
  Random random(seed, 2);
  Linear first(parameters, "first", {.input = inputs, .output = units, .bias = false});
  Linear second(parameters, "second", {.input = units, .output = units, .bias = false});
  Linear last(parameters, "last", {.input = units, .output = outputs});
  BatchNorm first_norm(parameters, "first_norm", {.features = units});
  BatchNorm second_norm(parameters, "second_norm", {.features = units});
  disturb(first_norm.gain, first_norm.bias, random);
  disturb(second_norm.gain, second_norm.bias, random);
  const auto network = [&](const Tensor& cases, Mode mode) {
    const Tensor h = tanh(first_norm(first(cases), mode));
    return last(tanh(second_norm(second(h), mode)));
  };
  for (size_t i = 0; i < batches; ++i) network(normal(x.shape(), random), Mode::train);
  const Tensor plain =
      plain_network({folded(first, first_norm), folded(second, second_norm), folded(last)}, x);
  return {.in_use = relative_difference(network(x, Mode::evaluate), plain),
          .in_training = relative_difference(network(x, Mode::evaluate_by_batch), plain)};
}

// --- One layer

/// The first cases of x, and what one layer of each scheme makes of all of x: how much of it no plain layer reaches.
void fit_plain_layers(const Tensor& x, Random& random, Notes& notes) {
  const Tensor w = normal({inputs, units}, random) * (1 / std::sqrt(real(inputs)));
  const Tensor gain(Shape{units}), bias(Shape{units});
  disturb(gain, bias, random);
  const Tensor a = matmul(x, w);
  const std::pair<const char*, Tensor> schemes[] = {
      {"weight", weight_norm_linear(x, w, gain, bias)},
      {"batch", batch_norm(a, gain, bias)},
      {"rms", rms_norm(a, gain)},
      {"layer", layer_norm(a, gain, bias)},
  };
  for (const auto& [name, y] : schemes)
    for (const size_t cases : {1U, 4U, 16U, 21U, 24U, 32U, 64U, 128U, 256U})
      notes.add(name, "residual of a plain layer", static_cast<double>(cases),
                affine_residual(x.slice(0, cases), y.slice(0, cases)));
}

/// What the best gain and bias leave of the summed inputs, after they were normalized without any.
void restore(const Tensor& x, Random& random, Notes& notes) {
  for (const size_t width : {4U, 16U, 64U, 256U}) {
    const Tensor a = matmul(x, normal({inputs, width}, random)) * (1 / std::sqrt(real(inputs)));
    const Tensor ones = Tensor::ones({width}), zeros = Tensor::zeros({width});
    const auto left = [&](const Tensor& normalized) { return gain_and_bias_residual(normalized, a); };
    const auto at = static_cast<double>(width);
    notes.add("batch", "left by gain and bias", at, left(batch_norm(a, ones, zeros)));
    notes.add("rms", "left by gain and bias", at, left(rms_norm(a, ones)));
    notes.add("layer", "left by gain and bias", at, left(layer_norm(a, ones, zeros)));
  }
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  const auto number = static_cast<std::uint64_t>(seed);
  Random random(number);
  const Tensor x = normal({256, inputs}, random);
  Notes notes(seed);
  notes.add("weight", "difference from the plain network", weight_norm_network(x, number));
  const BatchNormDifference batch = batch_norm_network(x, number, quick ? 5 : 100);
  notes.add("batch", "difference from the plain network", batch.in_use);
  notes.add("batch in training", "difference from the plain network", batch.in_training);
  fit_plain_layers(x, random, notes);
  restore(x, random, notes);
  return notes.rows();
}

}  // namespace

double relative_difference(const Tensor& a, const Tensor& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    difference = analysis::larger(difference, std::fabs(x - y));
    size = std::max(size, std::fabs(y));
  }
  return difference / size;
}

Tensor PlainLayer::operator()(const Tensor& x) const {
  const Tensor a = matmul(x, weight);
  return bias.defined() ? a + bias : a;
}

PlainLayer folded(const Linear& linear) { return {linear.effective_weight(), linear.bias}; }

PlainLayer folded(const Linear& linear, const BatchNorm& norm) {
  const Tensor factor = norm.gain / sqrt(norm.running_variance + norm.options.epsilon);
  const Tensor mean = linear.bias.defined() ? norm.running_mean - linear.bias : norm.running_mean;
  return {linear.effective_weight() * factor, norm.bias - mean * factor};
}

Lab reparameterization() {
  const std::string network = "difference from the plain network", plain = "residual of a plain layer",
                    left = "left by gain and bias";
  const auto rounding = [&](const std::string& words, const LabNumber& number) {
    return LabClaim{.words = words, .subject = number, .other = {.is = 1e-12}, .in_each_seed = true};
  };
  const auto clearly = [&](const std::string& words, const LabNumber& number) {
    return LabClaim{.words = words,
                    .subject = number,
                    .other = {.is = 0.01},
                    .direction = Claim::higher,
                    .in_each_seed = true};
  };
  return {
      .name = "reparameterization",
      .title = "Normalized networks as plain networks with other weights",
      .sentence =
          "\"Applying either weight normalization or batch normalization using expected statistics is "
          "equivalent to have a different parameterization of the original feed-forward neural network.\" "
          "Layer normalization is not; and gain and bias restore what the original could express.",
      .source =
          "Layer Normalization (Ba, Kiros and Hinton 2016), Section 4; Batch normalization and layer "
          "normalization (a web page on both), on what LN suits, item 3",
      .setting =
          "Random tanh networks 20 - 32 - 32 - 10 with random gains and biases over 256 random cases, in "
          "double. Their weights are transformed into those of a plain network. For one layer, the part of "
          "its outputs that no plain layer reaches is what a least-squares fit leaves.",
      .in_double = true,
      .measure = measure,
      .claims =
          {rounding("A network with weight norm is a plain network with other weights",
                    {.variant = "weight", .quantity = network}),
           rounding("A network with batch norm and expected statistics is a plain network with other weights",
                    {.variant = "batch", .quantity = network}),
           clearly("With the statistics of the batch it is not that plain network",
                   {.variant = "batch in training", .quantity = network}),
           clearly("No plain layer does what a layer with layer norm does",
                   {.variant = "layer", .quantity = plain}),
           rounding("Gain and bias can restore the summed inputs under batch norm",
                    {.variant = "batch", .quantity = left, .over = LabNumber::highest}),
           rounding("Gain and bias can restore the summed inputs under layer norm",
                    {.variant = "layer", .quantity = left, .over = LabNumber::lowest})},
      .charts = {{.title = "The best plain layer instead",
                  .quantity = plain,
                  .x_label = "cases",
                  .y_label = "share of the outputs' deviation left",
                  .log_x = true},
                 {.title = "The best gain and bias to restore",
                  .quantity = left,
                  .x_label = "units",
                  .y_label = "share of the summed inputs' deviation left",
                  .log_x = true}},
  };
}

}  // namespace lamina::lab
