#include "layers/statistics/population.h"

#include <algorithm>

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
