#include "models/lab/deep_digits.h"

#include "core/ops.h"
#include "core/tape.h"
#include "models/data/digits.h"

namespace lamina::lab {

DeepDigits::DeepDigits(const MnistData& data, const DeepDigitsOptions& options)
    : DigitExperiment(data, options.digits), options_(options) {
  const Norm norm = options.digits.norm;
  for (size_t l = 0; l < options.depth; ++l) {
    const std::string name = text("hidden", l + 1);
    const Linear linear(parameters, name,
                        {.input = l == 0 ? digit_pixels : options.width,
                         .output = options.width,
                         .bias = !entry_of(norm).bias,
                         .weights = weights_of(norm),
                         .initial = he()});
    layers_.push_back({linear, Normalization(parameters, name + ".norm",
                                             {.norm = norm,
                                              .features = options.width,
                                              .variance = variance_for(options.digits.batch),
                                              .gain = options.gain})});
  }
  output_ = std::make_unique<Linear>(parameters, "logits",
                                     LinearOptions{.input = options.width, .output = 10, .initial = he()});
  const DigitOptions& digits = options.digits;
  optimizer_ = make_optimizer(digits.optimizer, parameters, digits.learning_rate, digits.momentum);
}

Tensor DeepDigits::logits(const Tensor& images, Mode mode) {
  std::vector<HiddenLayer> hidden;
  return logits(images, mode, hidden);
}

Tensor DeepDigits::logits(const Tensor& images, Mode mode, std::vector<HiddenLayer>& hidden) {
  hidden.clear();
  Tensor h = images;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const Tensor a = layers_[l].linear(h), normalized = layers_[l].normalize(a, mode);
    hidden.push_back({a, options_.then ? options_.then(normalized, l, mode) : normalized});
    h = options_.function(hidden.back().seen);
  }
  return (*output_)(h);
}

double DeepDigits::train(std::uint64_t step) {
  Tape tape;
  const Tensor value = loss(step);
  tape.backward(value);
  optimizer_->step();
  return static_cast<double>(value.item());
}

DigitCases cases_of(const DigitSplit& split, size_t begin, size_t count) {
  const auto pixels = std::span(split.pixels).subspan(begin * digit_pixels, count * digit_pixels);
  const auto first = split.labels.begin() + static_cast<std::ptrdiff_t>(begin);
  return {Tensor::from({count, digit_pixels}, pixels), {first, first + static_cast<std::ptrdiff_t>(count)}};
}

}  // namespace lamina::lab
