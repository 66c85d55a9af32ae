#include "models/handwriting/mixture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/math/exponential_sum.h"
#include "core/math/math.h"
#include "core/ops.h"
#include "core/ops/map.h"

namespace lamina::handwriting {

namespace {

constexpr real log_2_pi = real(1.8378770664093454836);
using Components = std::array<real, most_components>;

/// The places of the M numbers of each kind in a row of outputs, or of their gradients.
template <class Real>
struct Row {
  Row(Real* row, size_t m)
      : weight(row),
        mean_x(row + m),
        mean_y(row + 2 * m),
        log_x(row + 3 * m),
        log_y(row + 4 * m),
        r(row + 5 * m),
        end(row + 6 * m) {}
  Real *weight, *mean_x, *mean_y, *log_x, *log_y, *r, *end;
};

/// -t log sigmoid(e) - (1 - t) log(1 - sigmoid(e)), finite for any finite e
real end_nll(real e, real t) { return e * ((e > 0 ? 1 : 0) - t) + std::log1p(std::exp(-std::fabs(e))); }

/// The two standardized distances and the terms with the correlation of one component.
struct Standardized {
  real x, y, rho, tanh_r, sharpness, square;
  Standardized(const Row<const real>& out, size_t j, const real* target) {
    x = (target[0] - out.mean_x[j]) * scalar::exp(-out.log_x[j]);
    y = (target[1] - out.mean_y[j]) * scalar::exp(-out.log_y[j]);
    tanh_r = scalar::tanh(out.r[j]);
    rho = most_correlation * tanh_r;
    sharpness = 1 / (1 - rho * rho);
    square = x * x + y * y - 2 * rho * x * y;
  }
};

/// joint_j = weight logit_j - the largest of them + log N(target | component j)
void joint_log_densities(const Row<const real>& out, size_t m, real largest_weight, const real* target,
                         Components& joint) {
#pragma omp simd
  for (size_t j = 0; j < m; ++j) {
    const Standardized z(out, j, target);
    const real log_density = -z.square * z.sharpness / 2 - out.log_x[j] - out.log_y[j] - log_2_pi;
    joint[j] = (out.weight[j] - largest_weight) + log_density;
  }
  for (size_t j = 0; j < m; ++j) {
    const real rho = most_correlation * scalar::tanh(out.r[j]);
    joint[j] -= std::log(1 - rho * rho) / 2;
  }
}

real row_nll(const real* output, size_t m, const real* target) {
  const Row<const real> out(output, m);
  const ExponentialSum weights = exponential_sum(out.weight, m);
  Components joint;
  joint_log_densities(out, m, weights.largest, target, joint);
  const ExponentialSum all = exponential_sum(joint.data(), m);
  return std::log(weights.total) - std::log(all.total) - all.largest + end_nll(*out.end, target[2]);
}

/// With the responsibilities gamma_j = softmax(joint)_j and C = 1 / (1 - rho^2), for L = -log p:
///
///   dL/d(weight logit) = softmax(weight)_j - gamma_j
///   dL/d(mean x)       = -gamma_j C (x - rho y) / sigma_x
///   dL/d(log sigma x)  = gamma_j (1 - C x (x - rho y))
///   dL/d(rho)          = -gamma_j C (x y + rho (1 - C square))
///   dL/d(end logit)    = sigmoid(e) - t
void row_backward(const real* output, size_t m, const real* target, real dnll, real* doutput) {
  const Row<const real> out(output, m);
  const Row<real> d(doutput, m);
  const ExponentialSum weights = exponential_sum(out.weight, m);
  Components joint;
  joint_log_densities(out, m, weights.largest, target, joint);
  const ExponentialSum all = exponential_sum(joint.data(), m);
  const real joint_scale = dnll / all.total, weight_scale = dnll / weights.total;
#pragma omp simd
  for (size_t j = 0; j < m; ++j) {
    const Standardized z(out, j, target);
    const real gamma = joint_scale * scalar::exp(joint[j] - all.largest);
    const real along_x = z.sharpness * (z.x - z.rho * z.y), along_y = z.sharpness * (z.y - z.rho * z.x);
    d.weight[j] = weight_scale * scalar::exp(out.weight[j] - weights.largest) - gamma;
    d.mean_x[j] = -gamma * along_x * scalar::exp(-out.log_x[j]);
    d.mean_y[j] = -gamma * along_y * scalar::exp(-out.log_y[j]);
    d.log_x[j] = gamma * (1 - z.x * along_x);
    d.log_y[j] = gamma * (1 - z.y * along_y);
    const real drho = -gamma * z.sharpness * (z.x * z.y + z.rho * (1 - z.sharpness * z.square));
    d.r[j] = drho * most_correlation * (1 - z.tanh_r * z.tanh_r);
  }
  *d.end = dnll * (scalar::sigmoid(*out.end) - target[2]);
}

size_t components_of(const Tensor& output, const Tensor& target, const Tensor& mask) {
  const size_t width = output.columns(), m = width / 6;
  if (width % 6 != 1 || m == 0 || m > most_components)
    fail("mixture_nll: ", width, " outputs per row; 6 M + 1 are needed, with M from 1 to ", most_components);
  if (target.columns() != 3 || target.rows() != output.rows() || mask.size() != output.rows())
    fail("mixture_nll: outputs ", output.shape(), ", points ", target.shape(), " and mask ", mask.shape(),
         ": as many points (of 3 numbers) and masks as rows of outputs are needed");
  return m;
}

}  // namespace

Tensor mixture_nll(const Tensor& output, const Tensor& target, const Tensor& mask) {
  const size_t m = components_of(output, target, mask), rows = output.rows(), width = output.columns();
  const size_t grain = grain_of(8 * width);
  Tensor nll({rows});
  parallel_for(rows, grain, [&, to = nll.data()](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r)
      to[r] = mask[r] == 0 ? 0 : mask[r] * row_nll(output.data() + r * width, m, target.data() + 3 * r);
  });
  // Constants, and inputs all the same: backward() looks for writes into them.
  return record("mixture_nll", nll, {output, target.detach(), mask.detach()}, [=] {
    const GradientSink sink = output.gradient_sink();
    const real* const dnll = nll.gradient_data();
    parallel_for(rows, grain, [&](size_t begin, size_t end) {
      std::array<real, 6 * most_components + 1> own;
      for (size_t r = begin; r < end; ++r) {
        real* const to = sink.values + r * width;
        if (mask[r] == 0)
          std::fill_n(own.data(), width, real{0});
        else
          row_backward(output.data() + r * width, m, target.data() + 3 * r, dnll[r] * mask[r], own.data());
        for (size_t k = 0; k < width; ++k) to[k] = (sink.add ? to[k] : 0) + own[k];
      }
    });
  });
}

Point draw_point(const real* output, size_t m, real bias, Random& random) {
  const Row<const real> out(output, m);
  Components weight;
  for (size_t j = 0; j < m; ++j) weight[j] = out.weight[j] * (1 + bias);
  const ExponentialSum all = exponential_sum(weight.data(), m);
  real left = random.uniform() * all.total;
  size_t chosen = 0;
  while (chosen + 1 < m && (left -= std::exp(weight[chosen] - all.largest)) >= 0) ++chosen;
  const real rho = most_correlation * std::tanh(out.r[chosen]);
  const real a = random.normal(), b = random.normal();
  return {out.mean_x[chosen] + std::exp(out.log_x[chosen] - bias) * a,
          out.mean_y[chosen] + std::exp(out.log_y[chosen] - bias) * (rho * a + std::sqrt(1 - rho * rho) * b),
          random.uniform() < scalar::sigmoid(*out.end) ? real{1} : real{0}};
}

namespace composed {

Tensor mixture_nll(const Tensor& output, const Tensor& target, const Tensor& mask) {
  const size_t m = components_of(output, target, mask), rows = output.rows();
  const Tensor out = output.reshape({rows, 6 * m + 1}), points = target.reshape({rows, 3});
  const auto part = [&](size_t k) { return slice(out, 1, k * m, (k + 1) * m); };
  const auto of_point = [&](size_t k) { return slice(points, 1, k, k + 1); };
  const Tensor x = (part(1) - of_point(0)) * exp(-part(3)), y = (part(2) - of_point(1)) * exp(-part(4));
  const Tensor rho = most_correlation * tanh(part(5)), one = 1 - square(rho);
  const Tensor log_density =
      -(square(x) + square(y) - 2 * rho * x * y) / (2 * one) - part(3) - part(4) - log(one) / 2 - log_2_pi;
  const auto log_sum_exp = [](const Tensor& terms) { return log(sum_columns(exp(terms))); };
  const Tensor end = bernoulli_cross_entropy(slice(out, 1, 6 * m, 6 * m + 1), of_point(2));
  const Tensor nll = log_sum_exp(part(0)) - log_sum_exp(part(0) + log_density) + end;
  return nll.reshape({rows}) * mask.reshape({rows});
}

}  // namespace composed

}  // namespace lamina::handwriting
