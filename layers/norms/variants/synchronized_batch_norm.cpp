#include "layers/norms/variants/synchronized_batch_norm.h"

#include <span>
#include <vector>

#include "core/distributed/group.h"
#include "core/ops/map.h"
#include "layers/statistics/column_norm.h"

namespace lamina {

namespace {

/// The number of cases of all ranks, and their statistics, from those of each rank's N_r cases:
///   mean = sum_r N_r m_r / N,    variance = sum_r N_r (v_r + (m_r - mean)^2) / (N - lost)
/// Summed in double, in which m_r keeps the digits in which it differs from the mean.
double merge(real lost, double cases, BatchStatistics& statistics) {
  const size_t features = statistics.mean.size();
  std::vector<double> sums(features + 1);
  for (size_t c = 0; c < features; ++c) sums[c] = cases * static_cast<double>(statistics.mean[c]);
  sums.back() = cases;
  distributed::group().sum(std::span(sums));
  const double all = sums.back();
  std::vector<double> squares(features);
  for (size_t c = 0; c < features; ++c) {
    const double distance = static_cast<double>(statistics.mean[c]) - sums[c] / all;
    squares[c] = cases * (static_cast<double>(statistics.variance[c]) + distance * distance);
    statistics.mean[c] = static_cast<real>(sums[c] / all);
  }
  distributed::group().sum(std::span(squares));
  for (size_t c = 0; c < features; ++c)
    statistics.variance[c] = static_cast<real>(squares[c] / (all - static_cast<double>(lost)));
  return all;
}

}  // namespace

/// n = (a - mean) / deviation,  y = gain n + bias,  and with sums over the N cases of all ranks
///   da = gain / deviation (dy - sum dy / N - n sum(dy n) / (N - lost)),  dgain = sum dy n,  dbias = sum dy
/// of which dgain and dbias are left to each rank's own cases: the sum of all gradients adds them up.
Tensor synchronized_batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon,
                               Variance estimate, BatchStatistics& statistics) {
  batch_pass::require_features("synchronized_batch_norm", a, gain, bias);
  const size_t rows = a.rows(), features = a.columns();
  const real lost = estimate == Variance::unbiased ? 1 : 0;
  statistics = {Tensor({features}), Tensor({features})};
  column_norm::measure(a, 0, statistics.mean, statistics.variance);
  const double all = merge(lost, static_cast<double>(rows), statistics);
  const Tensor mean = statistics.mean, inverse({features}), y(a.shape());
  column_norm::invert(statistics.variance.data(), epsilon, 0, features, Tensor(inverse).data());
  const column_norm::Statistics s{mean.data(), inverse.data()};
  parallel_for(rows, grain_of(features), [&, out = Tensor(y).data()](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r)
      column_norm::apply(a.data() + r * features, s, gain.data(), bias.data(), 0, features,
                         out + r * features);
  });
  return record({"synchronized_batch_norm", OpKind::norm}, y, {a, gain, bias}, [=] {
    const Tensor level({features}), along({features});
    column_norm::sum_derivatives(column_norm::cases_of(a, {}), y.gradient_data(), s, 0, features,
                                 Tensor(level).data(), Tensor(along).data());
    std::vector<double> sums(2 * features);
    for (size_t c = 0; c < features; ++c) {
      sums[c] = static_cast<double>(level[c]);
      sums[features + c] = static_cast<double>(along[c]);
    }
    distributed::group().sum(std::span(sums));
    std::vector<real> subtracted(features), turned(features);
    for (size_t c = 0; c < features; ++c) {
      subtracted[c] = static_cast<real>(sums[c] / all);
      turned[c] = static_cast<real>(sums[features + c] / (all - static_cast<double>(lost)));
    }
    contribute(a, [=, x = a.data(), dy = y.gradient_data(), g = gain.data(), mu = mean.data(),
                   inv = inverse.data(), sub = subtracted.data(), turn = turned.data()](size_t i) {
      const size_t c = i % features;
      return g[c] * inv[c] * (dy[i] - sub[c] - (x[i] - mu[c]) * inv[c] * turn[c]);
    });
    contribute(gain, [dg = along.data()](size_t c) { return dg[c]; });
    contribute(bias, [db = level.data()](size_t c) { return db[c]; });
  });
}

}  // namespace lamina
