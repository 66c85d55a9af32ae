// The paper's closed forms, in plain arithmetic: nothing here touches the tape or Lamina's layers.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/analysis/fisher.h"

namespace lamina::analysis {

namespace {

using Vector = std::vector<double>;

double dot(const Vector& u, const Vector& v) {
  return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
}

/// The data and parameters as vectors, and a_ni = w_i . x_n.
struct Numbers {
  explicit Numbers(const Glm& glm)
      : cases(glm.options.cases), inputs(glm.options.inputs), outputs(glm.options.outputs) {
    const LayerValues& layer = glm.layer;
    for (size_t n = 0; n < cases; ++n) {
      x.emplace_back(glm.x.data() + n * inputs, glm.x.data() + (n + 1) * inputs);
      a.emplace_back(outputs);
    }
    for (size_t i = 0; i < outputs; ++i) {
      w.emplace_back(inputs);
      for (size_t d = 0; d < inputs; ++d) w[i][d] = static_cast<double>(layer.weight[d * outputs + i]);
      g.push_back(static_cast<double>(layer.gain[i]));
      b.push_back(static_cast<double>(layer.bias[i]));
      for (size_t n = 0; n < cases; ++n) a[n][i] = dot(w[i], x[n]);
    }
  }
  size_t cases, inputs, outputs;
  std::vector<Vector> x, w, a;
  Vector g, b;
};

/// mu_i and sigma_i for one case, and their derivatives with respect to the unit's own weights.
struct Moments {
  double mu = 0, sigma = 1;
  Vector dmu, dsigma;
};

/// mu = mean over n of a_ni,  dmu/dw = mean x_n,  dsigma/dw = mean (a_ni - mu) x_n / sigma
Moments batch_moments(const Numbers& q, size_t i) {
  const auto count = static_cast<double>(q.cases);
  Moments m{0, 0, Vector(q.inputs), Vector(q.inputs)};
  for (size_t n = 0; n < q.cases; ++n) {
    m.mu += q.a[n][i] / count;
    for (size_t d = 0; d < q.inputs; ++d) m.dmu[d] += q.x[n][d] / count;
  }
  for (size_t n = 0; n < q.cases; ++n) m.sigma += (q.a[n][i] - m.mu) * (q.a[n][i] - m.mu) / count;
  m.sigma = std::sqrt(m.sigma);
  for (size_t n = 0; n < q.cases; ++n)
    for (size_t d = 0; d < q.inputs; ++d) m.dsigma[d] += (q.a[n][i] - m.mu) * q.x[n][d] / (count * m.sigma);
  return m;
}

/// mu = mean over i of a_ni,  dmu/dw_i = x_n / H,  dsigma/dw_i = (a_ni - mu) x_n / (H sigma)
Moments layer_moments(const Numbers& q, size_t n, size_t i) {
  const auto units = static_cast<double>(q.outputs);
  Moments m{0, 0, q.x[n], q.x[n]};
  for (const double a : q.a[n]) m.mu += a / units;
  for (const double a : q.a[n]) m.sigma += (a - m.mu) * (a - m.mu) / units;
  m.sigma = std::sqrt(m.sigma);
  for (size_t d = 0; d < q.inputs; ++d) {
    m.dmu[d] /= units;
    m.dsigma[d] *= (q.a[n][i] - m.mu) / (units * m.sigma);
  }
  return m;
}

/// mu = 0,  sigma = norm2(w),  dsigma/dw = w / norm2(w)
Moments weight_moments(const Numbers& q, size_t i) {
  Moments m{0, std::sqrt(dot(q.w[i], q.w[i])), Vector(q.inputs), q.w[i]};
  for (double& d : m.dsigma) d /= m.sigma;
  return m;
}

Moments moments(const Glm& glm, const Numbers& q, size_t n, size_t i) {
  switch (glm.options.norm) {
    case Norm::batch:
      return batch_moments(q, i);
    case Norm::layer:
      return layer_moments(q, n, i);
    case Norm::weight:
      return weight_moments(q, i);
    default:
      return {0, 1, Vector(q.inputs), Vector(q.inputs)};
  }
}

/// Cov[y | x] of one case with natural parameters z.
Matrix covariance(const Glm& glm, const Vector& z) {
  Matrix result(z.size());
  Vector p(z.size());
  if (glm.options.distribution == Distribution::categorical) {
    double total = 0;
    for (const double each : z) total += std::exp(each);
    for (size_t i = 0; i < z.size(); ++i) p[i] = std::exp(z[i]) / total;
    for (size_t i = 0; i < z.size(); ++i)
      for (size_t j = 0; j < z.size(); ++j) result(i, j) = (i == j ? p[i] : 0) - p[i] * p[j];
    return result;
  }
  for (size_t i = 0; i < z.size(); ++i) {
    p[i] = 1 / (1 + std::exp(-z[i]));
    result(i, i) = glm.options.distribution == Distribution::gaussian ? glm.phi() : p[i] * (1 - p[i]);
  }
  return result;
}

/// The terms of (13) for one case.
struct Case {
  Vector normalized;      ///< (a_i - mu_i) / sigma_i; a_i without normalization
  std::vector<Vector> u;  ///< for each unit (chi_i g_i / sigma_i, 1, (a_i - mu_i) / sigma_i)
  Matrix covariance;      ///< Cov[y | x]
};

/// The block (i, j) of (13) is u_i u_j^T, and so is that of (12), with u_i = (x, 1).
Case case_of(const Glm& glm, const Numbers& q, size_t n) {
  Case result{Vector(q.outputs), {}, Matrix(0)};
  Vector z(q.outputs);
  for (size_t i = 0; i < q.outputs; ++i) {
    const Moments m = moments(glm, q, n, i);
    const double normalized = (q.a[n][i] - m.mu) / m.sigma, g = glm.has_gain() ? q.g[i] : 1;
    Vector u;
    for (size_t d = 0; d < q.inputs; ++d) {
      const double chi = q.x[n][d] - m.dmu[d] - normalized * m.dsigma[d];  // Eq. 14
      u.push_back(chi * g / m.sigma);
    }
    u.push_back(1);
    if (glm.has_gain()) u.push_back(normalized);
    result.normalized[i] = normalized;
    result.u.push_back(u);
    z[i] = g * normalized + q.b[i];
  }
  result.covariance = covariance(glm, z);
  return result;
}

}  // namespace

Matrix fisher_formula(const Glm& glm) {
  const Numbers q(glm);
  const double scale = 1 / (glm.phi() * glm.phi() * static_cast<double>(q.cases));
  const size_t unit = glm.unit_size();
  Matrix fisher(glm.theta_size());
  for (size_t n = 0; n < q.cases; ++n) {
    const Case c = case_of(glm, q, n);
    for (size_t k = 0; k < fisher.size; ++k)
      for (size_t l = 0; l < fisher.size; ++l) {
        const size_t i = k / unit, j = l / unit;
        fisher(k, l) += scale * c.covariance(i, j) * c.u[i][k % unit] * c.u[j][l % unit];
      }
  }
  return fisher;
}

Matrix gain_metric_formula(const Glm& glm) {
  const Numbers q(glm);
  const double scale = 1 / (glm.phi() * glm.phi() * static_cast<double>(q.cases));
  Matrix metric(q.outputs);
  for (size_t n = 0; n < q.cases; ++n) {
    const Case c = case_of(glm, q, n);
    // The factor of Cov(y_i, y_j | x): 1 in (32), (a_i - mu)(a_j - mu) / sigma^2 in (33), and in (34) and
    // (35) a_i a_j / (norm2(w_i) norm2(w_j)).
    const auto factor = [&](size_t i) {
      if (glm.options.norm == Norm::batch) return 1.0;
      return glm.has_gain() ? c.normalized[i] : q.a[n][i] / std::sqrt(dot(q.w[i], q.w[i]));
    };
    for (size_t i = 0; i < q.outputs; ++i)
      for (size_t j = 0; j < q.outputs; ++j)
        metric(i, j) += scale * c.covariance(i, j) * factor(i) * factor(j);
  }
  return metric;
}

}  // namespace lamina::analysis
