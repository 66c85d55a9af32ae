#include "layers/statistics/population.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/distributed/group.h"
#include "core/distributed/shared_pieces.h"

namespace lamina {

Population make_population(Parameters& parameters, const std::string& name, size_t max_steps, size_t width) {
  const Tensor mean = parameters.add_state(name + ".mean", Tensor::zeros({max_steps, width}));
  const Tensor variance = parameters.add_state(name + ".variance", Tensor::ones({max_steps, width}));
  return {mean, variance, parameters.add_state(name + ".cases", Tensor::zeros({max_steps}))};
}

void Population::forget() const {
  Tensor counts = cases;
  std::ranges::fill(counts.values(), real{0});
}

/// Mean over all ranks' cases. A step that none has reached stays as it is.
void Population::merge_ranks() const {
  if (!distributed::shares_work()) return;
  const size_t steps = cases.size(), width = mean.columns();
  Tensor counts = cases, means = mean, variances = variance;
  std::vector<double> sums(steps * (1 + 2 * width));
  const auto each = [&](const auto& visit) {  // step, with the place of its sums
    for (size_t t = 0; t < steps; ++t) visit(t, sums.data() + t * (1 + 2 * width));
  };
  each([&](size_t t, double* sum) {
    const auto own = static_cast<double>(cases[t]);
    sum[0] = own;
    for (size_t c = 0; c < width && own > 0; ++c) {
      sum[1 + c] = own * static_cast<double>(mean[t * width + c]);
      sum[1 + width + c] = own * static_cast<double>(variance[t * width + c]);
    }
  });
  distributed::group().sum(std::span(sums));
  each([&](size_t t, const double* sum) {
    if (sum[0] == 0) return;
    counts[t] = static_cast<real>(sum[0]);
    for (size_t c = 0; c < width; ++c) {
      means[t * width + c] = static_cast<real>(sum[1 + c] / sum[0]);
      variances[t * width + c] = static_cast<real>(sum[1 + width + c] / sum[0]);
    }
  });
}

/// The first batch that reaches a step sets its statistics, later ones are averaged in. A single case has no
/// variance and does not change the population.
void Population::enter(size_t t, Mode mode, const Tensor& before, const Batch& batch) const {
  const bool enters = mode == Mode::train || mode == Mode::measure_population;
  if (!enters || batch.cases < 2 || t >= cases.size()) return;
  const real seen = before[t];
  const real weight = seen == 0 ? 1 : mode == Mode::train ? momentum : batch.cases / (seen + batch.cases);
  if (Tensor counts = cases; batch.begin == 0) counts[t] = seen + batch.cases;
  const auto average = [&](Tensor all, const real* now) {
    real* const at = all.data() + t * all.columns();
    for (size_t c = batch.begin; c < batch.end; ++c) at[c] = (1 - weight) * at[c] + weight * now[c];
  };
  average(mean, batch.mean);
  average(variance, batch.variance);
}

}  // namespace lamina
