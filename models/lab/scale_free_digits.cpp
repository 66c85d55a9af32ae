#include "models/lab/scale_free_digits.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/tape.h"
#include "models/evidence/interval.h"
#include "models/recording/vector_changes.h"
#include "optim/adam.h"
#include "optim/sgd.h"

namespace lamina::lab {

namespace {

constexpr size_t depth = 2, width = 50, batch = 50;

}  // namespace

std::vector<double> lengths_of(const Tensor& weight, bool by_column) {
  std::vector<double> squares(by_column ? weight.columns() : 1);
  for (size_t i = 0; i < weight.size(); ++i) {
    const auto w = static_cast<double>(weight[i]);
    squares[i % squares.size()] += w * w;
  }
  for (double& each : squares) each = std::sqrt(each);
  return squares;
}

double mean_angle(const Tensor& before, const Tensor& after) {
  double sum = 0;
  for (const VectorChange& change :
       column_changes(before.rows(), before.columns(), before.data(), after.data()))
    sum += change.angle * 180 / std::numbers::pi;
  return sum / static_cast<double>(before.columns());
}

NoisyDigits noisy_digits(std::uint64_t seed, size_t train, size_t test) {
  NoisyDigits noisy{.data = synthetic_mnist(seed, train, 1, test), .random = {}};
  DigitSplit& all = noisy.data.train;
  Random random(seed, 0x6c6162656c);
  for (size_t i = 0; i < all.count(); ++i) {
    if (random.below(5) != 0) continue;
    all.labels[i] = static_cast<int>(random.below(10));
    const size_t pixels = all.pixels.size() / all.count();
    const auto image = std::span(all.pixels).subspan(i * pixels, pixels);
    noisy.random.pixels.insert(noisy.random.pixels.end(), image.begin(), image.end());
    noisy.random.labels.push_back(all.labels[i]);
  }
  return noisy;
}

ScaleFreeDigits::ScaleFreeDigits(const MnistData& data, Norm norm, const WeightTraining& training,
                                 std::uint64_t seed)
    : by_column(norm != Norm::layer),
      net(data, {.digits = {.norm = norm, .batch = batch, .seed = seed}, .depth = depth, .width = width}),
      held_(training.held) {
  ParameterGroup weights{.names = {},
                         .learning_rate = static_cast<real>(training.rate),
                         .weight_decay = static_cast<real>(training.decay)};
  for (const auto& [name, value] : net.parameters.learned())
    for (size_t l = 0; l < depth; ++l)
      if (value.storage() == net.weight(l).storage()) weights.names.push_back(name);
  const auto rate = static_cast<real>(training.rate_of_others.value_or(training.rate));
  if (training.adam)
    optimizer_ =
        std::make_unique<Adam>(net.parameters, AdamOptions{.learning_rate = rate, .groups = {weights}});
  else
    optimizer_ =
        std::make_unique<Sgd>(net.parameters, SgdOptions{.learning_rate = rate, .groups = {weights}});
  for (size_t l = 0; l < depth; ++l) first_.push_back(lengths_of(net.weight(l), by_column));
}

void ScaleFreeDigits::train(std::uint64_t step) {
  Tape tape;
  tape.backward(net.loss(step));
  optimizer_->step();
  if (held_) hold();
}

void ScaleFreeDigits::hold() {
  for (size_t l = 0; l < depth; ++l) {
    Tensor weight = net.weight(l);
    const std::vector<double> now = lengths_of(weight, by_column);
    for (size_t i = 0; i < weight.size(); ++i)
      weight[i] *= static_cast<real>(first_[l][i % now.size()] / now[i % now.size()]);
  }
}

Tensor ScaleFreeDigits::watched() const { return net.weight(depth - 1); }

double ScaleFreeDigits::relative_length() const {
  return moments_of(lengths_of(watched(), by_column)).mean / moments_of(first_.back()).mean;
}

}  // namespace lamina::lab
