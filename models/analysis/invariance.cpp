#include "models/analysis/invariance.h"

#include <algorithm>
#include <cmath>

#include "core/math/random.h"
#include "models/analysis/larger.h"
#include "models/analysis/normalized_layer.h"
#include "models/run/metrics.h"

namespace lamina::analysis {

namespace {

/// A layer and its data.
struct Subject {
  Tensor x;
  LayerValues layer;
};

Tensor normal(const Shape& shape, double deviation, Random& random) {
  Tensor x(shape);
  random.fill_normal(x.data(), x.size(), 0, static_cast<real>(deviation));
  return x;
}

Tensor uniform(const Shape& shape, double low, double high, Random& random) {
  Tensor x(shape);
  random.fill_uniform(x.data(), x.size(), static_cast<real>(low), static_cast<real>(high));
  return x;
}

enum class DataKind { vectors, maps };

Subject draw(DataKind kind, const InvarianceOptions& options, Random& random) {
  const Shape vectors{options.cases, options.inputs},
      maps{options.cases, options.side, options.side, options.inputs};
  const double deviation = 1 / std::sqrt(static_cast<double>(options.inputs));
  return {.x = normal(kind == DataKind::vectors ? vectors : maps, 1, random),
          .layer = {.weight = normal({options.inputs, options.units}, deviation, random),
                    .gain = uniform({options.units}, 0.5, 1.5, random),
                    .bias = uniform({options.units}, -0.5, 0.5, random)}};
}

void scale(std::span<real> values, double factor) {
  for (real& value : values) value *= static_cast<real>(factor);
}

/// W' = W + gamma 1^T
void shift_weights(Tensor& weight, const Tensor& gamma) {
  for (size_t i = 0; i < weight.size(); ++i) weight[i] += gamma[i / weight.columns()];
}

/// x' = x + gamma
void shift_data(Tensor& x, const Tensor& gamma) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += gamma[i % x.columns()];
}

/// Transforms a copy. A single weight vector or case is picked at random.
Subject transformed(const Subject& subject, Transformation transformation, double magnitude, Random& random) {
  Subject result = {subject.x.copy(), {subject.layer.weight.copy(), subject.layer.gain, subject.layer.bias}};
  Tensor &x = result.x, &weight = result.layer.weight;
  const size_t cases = x.shape()[0], units = weight.columns();
  switch (transformation) {
    case Transformation::matrix_rescaling:
      scale(weight.values(), magnitude);
      break;
    case Transformation::matrix_recentering:
      shift_weights(weight, normal({weight.rows()}, magnitude, random));
      break;
    case Transformation::vector_rescaling:
      for (size_t i = random.below(static_cast<std::uint32_t>(units)); i < weight.size(); i += units)
        weight[i] *= static_cast<real>(magnitude);
      break;
    case Transformation::data_rescaling:
      scale(x.values(), magnitude);
      break;
    case Transformation::data_recentering:
      shift_data(x, normal({x.columns()}, magnitude, random));
      break;
    case Transformation::case_rescaling:
      scale(x.step(random.below(static_cast<std::uint32_t>(cases))).values(), magnitude);
      break;
  }
  return result;
}

/// max |z - y| / max |y|
double relative_change(const Tensor& y, const Tensor& z) {
  double change = 0, size = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const auto was = static_cast<double>(y[i]), is = static_cast<double>(z[i]);
    change = larger(change, std::fabs(is - was));
    size = std::max(size, std::fabs(was));
  }
  return change / size;
}

double change_under(const LayerFunction& layer, DataKind kind, Transformation transformation,
                    double magnitude, const InvarianceOptions& options) {
  double largest = 0;
  for (size_t i = 0; i < options.draws; ++i) {
    Random random(options.seed, i);
    const Subject before = draw(kind, options, random);
    const Subject after = transformed(before, transformation, magnitude, random);
    largest = larger(largest, relative_change(layer(before.x, before.layer), layer(after.x, after.layer)));
  }
  return largest;
}

const char* verdict(bool invariant) { return invariant ? "yes" : "no"; }

}  // namespace

const char* name_of(Transformation transformation) {
  switch (transformation) {
    case Transformation::matrix_rescaling:
      return "weight matrix re-scaling";
    case Transformation::matrix_recentering:
      return "weight matrix re-centering";
    case Transformation::vector_rescaling:
      return "weight vector re-scaling";
    case Transformation::data_rescaling:
      return "dataset re-scaling";
    case Transformation::data_recentering:
      return "dataset re-centering";
    case Transformation::case_rescaling:
      return "single case re-scaling";
  }
  return "";
}

const std::vector<Norm>& table_schemes() {
  static const std::vector<Norm> schemes = [] {
    std::vector<Norm> rows{Norm::batch, Norm::weight, Norm::layer};
    for (const NormEntry& entry : norm_table)
      if (entry.norm != Norm::layer_interior && std::ranges::find(rows, entry.norm) == rows.end())
        rows.push_back(entry.norm);
    return rows;
  }();
  return schemes;
}

std::optional<bool> paper_says(Norm norm, Transformation transformation) {
  // In the order of `transformations`.
  static constexpr bool batch[] = {true, false, true, true, true, false};
  static constexpr bool weight[] = {true, false, true, false, false, false};
  static constexpr bool layer[] = {true, true, false, true, false, true};
  const auto column = static_cast<size_t>(transformation);
  if (norm == Norm::batch) return batch[column];
  if (norm == Norm::weight) return weight[column];
  if (norm == Norm::layer) return layer[column];
  return {};
}

double change_under(const LayerFunction& layer, Transformation transformation, double magnitude,
                    const InvarianceOptions& options) {
  return change_under(layer, DataKind::vectors, transformation, magnitude, options);
}

std::vector<InvarianceResult> measure_invariance(const InvarianceOptions& options) {
  std::vector<InvarianceResult> results;
  for (const Norm norm : table_schemes())
    for (const Transformation transformation : transformations)
      for (const double magnitude : options.magnitudes)
        for (const double epsilon : {0.0, default_epsilon()}) {
          const auto layer = [&](const Tensor& x, const LayerValues& values) {
            return normalized_layer(norm, x, values, static_cast<real>(epsilon));
          };
          const DataKind kind = entry_of(norm).vectors ? DataKind::vectors : DataKind::maps;
          const double change = change_under(layer, kind, transformation, magnitude, options);
          results.push_back({norm, transformation, magnitude, epsilon, change});
        }
  return results;
}

double largest_change(const std::vector<InvarianceResult>& results, Norm norm, Transformation transformation,
                      double epsilon) {
  double largest = 0;
  for (const InvarianceResult& r : results)
    if (r.norm == norm && r.transformation == transformation && r.epsilon == epsilon)
      largest = larger(largest, r.change);
  return largest;
}

std::string invariance_table(const std::vector<InvarianceResult>& results, double epsilon) {
  std::string head = "| |", rule = "|---|", body;
  for (const Transformation t : transformations) {
    head += text(' ', name_of(t), " |");
    rule += "---|";
  }
  for (const Norm norm : table_schemes()) {
    body += text("| ", lamina::name_of(norm), " |");
    for (const Transformation t : transformations) {
      const double change = largest_change(results, norm, t, epsilon);
      const bool invariant = change < invariance_threshold;
      const bool differs = paper_says(norm, t).value_or(invariant) != invariant;
      body += text(' ', verdict(invariant), formatted(" (%.0e)", change),
                   differs ? " **not as in the paper**" : "", " |");
    }
    body += '\n';
  }
  return head + '\n' + rule + '\n' + body;
}

std::string disagreements(const std::vector<InvarianceResult>& results) {
  std::string lines;
  for (const Norm norm : table_schemes())
    for (const Transformation t : transformations) {
      const double change = largest_change(results, norm, t, 0);
      const bool invariant = change < invariance_threshold;
      const auto paper = paper_says(norm, t);
      if (paper && *paper != invariant)
        lines += text(lamina::name_of(norm), " norm, ", name_of(t), ": the paper says ", verdict(*paper),
                      ", the output changes by ", formatted("%.1e", change), '\n');
    }
  return lines;
}

std::string to_csv(const std::vector<InvarianceResult>& results) {
  std::string csv = "scheme,transformation,magnitude,epsilon,change\n";
  for (const InvarianceResult& r : results)
    csv += text(lamina::name_of(r.norm), ',', name_of(r.transformation), ',', r.magnitude, ',', r.epsilon,
                ',', formatted("%.3e", r.change), '\n');
  return csv;
}

}  // namespace lamina::analysis
