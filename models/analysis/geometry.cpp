#include "models/analysis/geometry.h"

#include <cmath>
#include <functional>
#include <limits>

#include "core/math/random.h"
#include "models/analysis/larger.h"
#include "models/run/metrics.h"

namespace lamina::analysis {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

template <class Body>
void for_each_glm(std::uint64_t seed, const Body& body) {
  for (const Distribution distribution : distributions)
    for (const Norm norm : glm_schemes)
      body(GlmOptions{.norm = norm, .distribution = distribution, .seed = seed});
}

std::string number(const char* format, double value) {
  return std::isnan(value) ? "" : formatted(format, value);
}

std::string model_name(const GlmOptions& glm) {
  return text(name_of(glm.distribution), " | ", lamina::name_of(glm.norm));
}

/// A random direction of length 1.
std::vector<double> direction(size_t size, std::uint64_t seed) {
  Random random(seed, /*stream=*/1);
  std::vector<double> d(size);
  double length = 0;
  for (double& each : d) {
    each = static_cast<double>(random.normal());
    length = std::hypot(length, each);
  }
  for (double& each : d) each /= length;
  return d;
}

enum class Block { weights, bias, gain };

Block block_of(const Glm& glm, size_t k) {
  const size_t place = k % glm.unit_size();
  return place == glm.bias_place() ? Block::bias : place == glm.gain_place() ? Block::gain : Block::weights;
}

FormulaCheck check_formula(const GlmOptions& options) {
  Glm glm(options);
  const Matrix exact = exact_fisher(glm), formula = fisher_formula(glm);
  FormulaCheck check{options, 0,
                     0,       glm.has_gain() ? 0 : unknown,
                     0,       relative_difference(gain_metric_formula(glm), gain_metric(glm, exact))};
  double scale = 0;
  for (const double entry : exact.values) scale = larger(scale, std::fabs(entry));
  for (size_t k = 0; k < exact.size; ++k)
    for (size_t l = 0; l < exact.size; ++l) {
      const Block row = block_of(glm, k), column = block_of(glm, l);
      if (row != Block::weights && column == Block::weights) continue;  // the matrix is symmetric
      double& worst = row != Block::weights      ? check.rest
                      : column == Block::weights ? check.weights
                      : column == Block::bias    ? check.weights_bias
                                                 : check.weights_gain;
      worst = larger(worst, std::fabs(exact(k, l) - formula(k, l)) / scale);
    }
  return check;
}

/// |a - b| / |b| over the weights' block.
double weights_difference(const Glm& glm, const Matrix& a, const Matrix& b) {
  double difference = 0, size = 0;
  for (size_t k = 0; k < a.size; ++k)
    for (size_t l = 0; l < a.size; ++l) {
      if (block_of(glm, k) != Block::weights || block_of(glm, l) != Block::weights) continue;
      difference = std::hypot(difference, a(k, l) - b(k, l));
      size = std::hypot(size, b(k, l));
    }
  return difference / size;
}

/// Curvature along d, relative to the mean one.
double relative_curvature(const Glm& glm, const Matrix& fisher, const std::vector<double>& d,
                          double mean_curvature) {
  double squares = 0;
  for (size_t k = 0; k < glm.theta_size(); ++k) squares += d[k] * d[k];
  return product(d, fisher, d) / squares / mean_curvature;
}

Sweep sweep(const GlmOptions& options, const std::function<double(double factor)>& curvature) {
  Sweep result{options, {}, {}};
  for (int power = -3; power <= 3; ++power) {
    const double factor = std::exp2(power);
    result.factor.push_back(factor);
    result.curvature.push_back(curvature(factor));
  }
  return result;
}

Tensor times(const Tensor& x, double factor) {
  Tensor scaled = x.copy();
  for (real& value : scaled.values()) value *= static_cast<real>(factor);
  return scaled;
}

}  // namespace

std::vector<FormulaCheck> check_formulas(std::uint64_t seed) {
  std::vector<FormulaCheck> checks;
  for_each_glm(seed, [&](const GlmOptions& options) { checks.push_back(check_formula(options)); });
  return checks;
}

std::string formula_table(const std::vector<FormulaCheck>& checks) {
  std::string table =
      "| outputs | norm | w, w | w, b | w, g | b, g | along the gain |\n|---|---|---|---|---|---|---|\n";
  for (const FormulaCheck& c : checks) {
    table += "| " + model_name(c.glm);
    for (const double value : {c.weights, c.weights_bias, c.weights_gain, c.rest, c.gain_metric})
      table += " | " + number("%.1e", value);
    table += " |\n";
  }
  return table;
}

std::vector<CrossTerms> cross_terms(std::uint64_t seed) {
  std::vector<CrossTerms> all;
  for (const size_t units : {3U, 4U, 8U, 16U, 32U}) {
    Glm glm({.norm = Norm::layer, .outputs = units, .seed = seed});
    const Matrix exact = exact_fisher(glm), formula = fisher_formula(glm);
    const std::vector<double> scaling = weights_as_direction(glm), one = direction(glm.options.inputs, seed);
    std::vector<double> shifting(scaling.size());
    for (size_t k = 0; k < shifting.size(); ++k)
      if (block_of(glm, k) == Block::weights) shifting[k] = one[k % glm.unit_size()];
    const double mean = weight_curvature(glm, exact);
    all.push_back(
        {units, weights_difference(glm, formula, exact), relative_curvature(glm, exact, scaling, mean),
         relative_curvature(glm, formula, scaling, mean), relative_curvature(glm, exact, shifting, mean),
         relative_curvature(glm, formula, shifting, mean)});
  }
  return all;
}

std::string cross_term_table(const std::vector<CrossTerms>& all) {
  std::string table =
      "| units | difference of the weights' block | along vec(W): exact | (13) | along a common shift: exact "
      "| "
      "(13) |\n|---|---|---|---|---|---|\n";
  for (const CrossTerms& c : all)
    table += text("| ", c.units, " | ", number("%.1f%%", 100 * c.weights), " | ", number("%.0e", c.scaling),
                  " | ", number("%.2f", c.scaling_13), " | ", number("%.0e", c.shifting), " | ",
                  number("%.2f", c.shifting_13), " |\n");
  return table;
}

double log_log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double count = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0 && y[i] > 0)) continue;
    const double u = std::log(x[i]), v = std::log(y[i]);
    count += 1, sx += u, sy += v, sxx += u * u, sxy += u * v;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

double KlCurve::slope() const {
  std::vector<double> short_t, difference;
  for (size_t i = 0; i < t.size(); ++i) {
    const double each = std::fabs(kl[i] - metric[i]);
    if (t[i] > 0.2 || each < 1e-7 * kl[i]) continue;  // too long for third order, or too short for doubles
    short_t.push_back(t[i]);
    difference.push_back(each);
  }
  return short_t.size() < 3 ? unknown : log_log_slope(short_t, difference);
}

std::vector<KlCurve> kl_curves(std::uint64_t seed) {
  std::vector<KlCurve> curves;
  for_each_glm(seed, [&](const GlmOptions& options) {
    Glm glm(options);
    const std::vector<double> d = direction(glm.theta_size(), seed);
    const double curvature = product(d, exact_fisher(glm), d);
    KlCurve curve{options, {}, {}, {}};
    for (int power = 0; power >= -10; --power) {
      const double t = std::exp2(power);
      std::vector<double> step = d;
      for (double& each : step) each *= t;
      Glm moved = glm;
      moved.move(step);
      curve.t.push_back(t);
      curve.kl.push_back(kl_divergence(glm, moved));
      curve.metric.push_back(t * t * curvature / 2);
    }
    curves.push_back(curve);
  });
  return curves;
}

std::string kl_table(const std::vector<KlCurve>& curves) {
  std::string table =
      "| outputs | norm | KL / metric at t = 1/8 | at 1/1024 | slope of their difference |\n"
      "|---|---|---|---|---|\n";
  for (const KlCurve& c : curves) {
    const double slope = c.slope();
    table += text("| ", model_name(c.glm), " | ", number("%.4f", c.kl[3] / c.metric[3]), " | ",
                  number("%.6f", c.kl.back() / c.metric.back()), " | ",
                  std::isnan(slope) ? "no difference" : number("%.2f", slope), " |\n");
  }
  return table;
}

double Sweep::slope() const { return log_log_slope(factor, curvature); }

std::vector<Sweep> weight_sweeps(std::uint64_t seed) {
  std::vector<Sweep> sweeps;
  for_each_glm(seed, [&](const GlmOptions& options) {
    sweeps.push_back(sweep(options, [&](double factor) {
      Glm glm(options);
      glm.layer.weight = times(glm.layer.weight, factor);
      return weight_curvature(glm, exact_fisher(glm));
    }));
  });
  return sweeps;
}

std::vector<Sweep> input_sweeps(std::uint64_t seed) {
  std::vector<Sweep> sweeps;
  for_each_glm(seed, [&](const GlmOptions& options) {
    sweeps.push_back(sweep(options, [&](double factor) {
      Glm glm(options);
      glm.x = times(glm.x, factor);
      return gain_curvature(glm, exact_fisher(glm));
    }));
  });
  return sweeps;
}

std::string sweep_table(const std::vector<Sweep>& sweeps, const std::string& what) {
  std::string table =
      text("| outputs | norm | at ", what, " x 1/8 | x 1 | x 8 | slope |\n|---|---|---|---|---|---|\n");
  for (const Sweep& s : sweeps)
    table += text("| ", model_name(s.glm), " | ", number("%.3g", s.curvature.front()), " | ",
                  number("%.3g", s.curvature[s.curvature.size() / 2]), " | ",
                  number("%.3g", s.curvature.back()), " | ", number("%.2f", s.slope()), " |\n");
  return table;
}

}  // namespace lamina::analysis
