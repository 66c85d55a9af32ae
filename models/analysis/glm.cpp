#include "models/analysis/glm.h"

#include <algorithm>
#include <cmath>

#include "core/math/random.h"
#include "core/ops.h"

namespace lamina::analysis {

namespace {

constexpr size_t most_bernoulli_outputs = 8;

Tensor normal(const Shape& shape, double deviation, Random& random) {
  Tensor x(shape);
  random.fill_normal(x.data(), x.size(), 0, static_cast<real>(deviation));
  return x;
}

Tensor row_of(const std::vector<double>& values) {
  Tensor row({1, values.size()});
  std::ranges::transform(values, row.values().begin(), [](double v) { return static_cast<real>(v); });
  return row;
}

std::vector<double> doubles(const Tensor& x) { return {x.values().begin(), x.values().end()}; }

}  // namespace

const char* name_of(Distribution distribution) {
  switch (distribution) {
    case Distribution::gaussian:
      return "gaussian";
    case Distribution::bernoulli:
      return "bernoulli";
    case Distribution::categorical:
      return "categorical";
  }
  return "";
}

Glm::Glm(const GlmOptions& chosen) : options(chosen) {
  const auto& [norm, distribution, cases, inputs, outputs, variance, seed] = chosen;
  if (cases == 0 || inputs == 0 || outputs == 0) fail("glm: a size of 0; all must be positive");
  if (distribution == Distribution::bernoulli && outputs > most_bernoulli_outputs)
    fail("glm: ", outputs, " Bernoulli outputs; at most ", most_bernoulli_outputs, " are supported");
  Random random(seed);
  x = normal({cases, inputs}, 1, random);
  layer.weight = normal({inputs, outputs}, 1 / std::sqrt(static_cast<double>(inputs)), random);
  layer.bias = normal({outputs}, 0.5, random);
  layer.gain = Tensor({outputs});
  random.fill_uniform(layer.gain.data(), outputs, real(0.5), real(1.5));
}

Glm::Place Glm::place(size_t k) const {
  const size_t unit = k / unit_size(), within = k % unit_size();
  if (within == bias_place()) return {layer.bias, unit};
  if (within == gain_place()) return {layer.gain, unit};
  return {layer.weight, within * options.outputs + unit};
}

std::vector<double> Glm::theta() const {
  std::vector<double> values;
  for (size_t k = 0; k < theta_size(); ++k) {
    const Place at = place(k);
    values.push_back(static_cast<double>(at.tensor[at.index]));
  }
  return values;
}

std::vector<double> Glm::gradient() const {
  std::vector<double> values;
  for (size_t k = 0; k < theta_size(); ++k) {
    const Place at = place(k);
    const real* const gradient = at.tensor.gradient_data();
    values.push_back(gradient == nullptr ? 0 : static_cast<double>(gradient[at.index]));
  }
  return values;
}

void Glm::move(const std::vector<double>& step) {
  layer = {layer.weight.copy(), layer.gain.copy(), layer.bias.copy()};  // a copied model shares them
  for (size_t k = 0; k < theta_size(); ++k) {
    Place at = place(k);
    at.tensor[at.index] += static_cast<real>(step[k]);
  }
}

std::vector<Outcome> outcomes(const Glm& glm, const Tensor& z) {
  const size_t outputs = glm.options.outputs;
  std::vector<Outcome> all;
  switch (glm.options.distribution) {
    case Distribution::gaussian: {
      const double weight = 1 / (2 * static_cast<double>(outputs));
      const double distance = std::sqrt(glm.phi() * static_cast<double>(outputs));
      for (size_t i = 0; i < outputs; ++i)
        for (const double offset : {distance, -distance}) {
          all.push_back({doubles(z), weight});
          all.back().y[i] += offset;
        }
      break;
    }
    case Distribution::bernoulli: {
      const std::vector<double> p = doubles(sigmoid(z));
      for (size_t bits = 0; bits < size_t{1} << outputs; ++bits) {
        Outcome outcome{std::vector<double>(outputs), 1};
        for (size_t i = 0; i < outputs; ++i) {
          const bool one = (bits >> i & 1) != 0;
          outcome.y[i] = one ? 1 : 0;
          outcome.probability *= one ? p[i] : 1 - p[i];
        }
        all.push_back(outcome);
      }
      break;
    }
    case Distribution::categorical: {
      const std::vector<double> p = doubles(softmax(z));
      for (size_t i = 0; i < outputs; ++i) {
        all.push_back({std::vector<double>(outputs), p[i]});
        all.back().y[i] = 1;
      }
      break;
    }
  }
  return all;
}

Tensor log_likelihood(const Glm& glm, const Tensor& z, const std::vector<double>& y) {
  const Tensor target = row_of(y);
  switch (glm.options.distribution) {
    case Distribution::gaussian:
      return sum(z * target - square(z) * real(0.5)) / static_cast<real>(glm.phi());
    case Distribution::bernoulli:
      return -sum(bernoulli_cross_entropy(z, target));
    case Distribution::categorical:
      break;
  }
  return sum(log_softmax(z) * target);
}

double kl_divergence(const Glm& from, const Glm& to) {
  const Tensor p = from.natural_parameters(), q = to.natural_parameters();
  const auto total = [&] {
    switch (from.options.distribution) {
      case Distribution::gaussian:
        return sum(square(p - q)) / static_cast<real>(2 * from.phi());
      case Distribution::bernoulli:
        return sum(bernoulli_cross_entropy(q, sigmoid(p)) - bernoulli_cross_entropy(p, sigmoid(p)));
      case Distribution::categorical:
        break;
    }
    return sum(softmax(p) * (log_softmax(p) - log_softmax(q)));
  };
  return static_cast<double>(total().item()) / static_cast<double>(from.options.cases);
}

}  // namespace lamina::analysis
