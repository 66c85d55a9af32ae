#include "layers/norms/variants/synchronized_batch_norm.h"

#include <algorithm>
#include <span>

#include "core/ops/map.h"
#include "layers/statistics/column_norm.h"
#include "layers/statistics/rank_statistics.h"

namespace lamina {

/// n = (a - mean) / deviation,  y = gain n + bias,  and with sums over the N cases of all ranks
///   da = gain / deviation (dy - sum dy / N - n sum(dy n) / (N - lost)),  dgain = sum dy n,  dbias = sum dy
/// of which dgain and dbias are left to each rank's own cases: the sum of all gradients adds them up.
SynchronizedBatchNorm synchronized_batch_norm(const SynchronizedBatchNormOptions& options, const Tensor& a,
                                              const Tensor& gain, const Tensor& given_bias) {
  const Tensor bias = given_bias.defined() ? given_bias : Tensor::zeros(gain.shape());
  batch_pass::require_features("synchronized_batch_norm", a, gain, bias);
  const size_t rows = a.rows(), features = a.columns();
  const real lost = options.variance == Variance::unbiased ? 1 : 0;
  const Tensor mask = options.mask, mean({features}), variance({features}), inverse({features}), y(a.shape());
  column_norm::measure(a, mask, 0, mean, variance);
  const column_norm::Cases cases = column_norm::cases_of(a, mask);
  const real all =
      column_norm::merge_ranks(cases.count(), lost, Tensor(mean).values(), Tensor(variance).values());
  column_norm::invert(variance.data(), options.epsilon, 0, features, Tensor(inverse).data());
  const column_norm::Statistics s{mean.data(), inverse.data()};
  parallel_for(rows, grain_of(features), [&, out = Tensor(y).data()](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r)
      if (real* const to = out + r * features; cases.counts(r))
        column_norm::apply(a.data() + r * features, s, gain.data(), bias.data(), 0, features, to);
      else
        std::fill_n(to, features, real{0});
  });
  record({"synchronized_batch_norm", OpKind::norm}, y, {a, gain, given_bias, mask}, [=] {
    const column_norm::Statistics kept{mean.data(), inverse.data()};
    Tensor dgain({features}), dbias({features});
    column_norm::sum_derivatives(column_norm::cases_of(a, mask), y.gradient_data(), kept, 0, features,
                                 dbias.data(), dgain.data());
    Tensor sums({2, features});
    std::ranges::copy(dbias.values(), sums.data());
    std::ranges::copy(dgain.values(), sums.data() + features);
    column_norm::sum_ranks(sums.values());
    contribute(a, [=, x = column_norm::cases_of(a, mask), dy = y.gradient_data(), g = gain.data(),
                   lv = sums.data(), al = sums.data() + features](size_t i) {
      const size_t c = i % features;
      const real n = (x.values[i] - kept.mean[c]) * kept.inverse_deviation[c];
      return x.counts(i / features)
                 ? g[c] * kept.inverse_deviation[c] * (dy[i] - lv[c] / all - n * (al[c] / (all - lost)))
                 : 0;
    });
    contribute(gain, [dg = dgain.data()](size_t c) { return dg[c]; });
    if (given_bias.defined()) contribute(given_bias, [db = dbias.data()](size_t c) { return db[c]; });
  });
  return {y, {mean.copy(), variance}, all};
}

}  // namespace lamina
