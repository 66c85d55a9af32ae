#include "layers/norms/masked_batch_norm.h"

#include <algorithm>

#include "core/distributed/batch_part.h"
#include "core/ops.h"
#include "layers/statistics/column_norm.h"

namespace lamina {

MaskedBatchNorm::MaskedBatchNorm(Parameters& parameters, const std::string& name,
                                 const MaskedBatchNormOptions& options)
    : gain(parameters.add(name + ".gain", Tensor::full({options.features}, options.gain))),
      bias(options.bias ? parameters.add(name + ".bias", Tensor::zeros({options.features})) : Tensor()),
      population(make_population(parameters, name, 1, options.features)) {}

Tensor MaskedBatchNorm::operator()(const Tensor& a, const Tensor& mask, Mode mode) const {
  if (a.shape().rank() == 0 || gain.shape() != Shape{a.columns()} || a.rows() == 0)
    fail("masked_batch_norm: the input is ", a.shape(), "; one row of ", gain.size(), " at least is needed");
  if (mask.defined() && mask.size() != a.rows())
    fail("masked_batch_norm: the mask ", mask.shape(), " has not one number for each row of ", a.shape());
  const bool over_ranks = mode == Mode::train && distributed::synchronizes_statistics();
  const Tensor mean = population.mean.step(0).copy(), variance = population.variance.step(0).copy();
  const real cases = over_ranks ? column_norm::measure_over_ranks(a, mask, 0, mean, variance)
                                : static_cast<real>(column_norm::cases_of(a, mask).count());
  Tensor y = column_norm::normalize({.op = over_ranks ? "synchronized_batch_norm" : "masked_batch_norm",
                                     .epsilon = real(1e-5),
                                     .mask = mask,
                                     .given = mode == Mode::evaluate,
                                     .measured = over_ranks,
                                     .cases_of_ranks = over_ranks ? cases : 0},
                                    a, gain, bias, mean, variance);
  population.enter(0, mode, population.cases, {cases, mean.data(), variance.data(), 0, a.columns()});
  return y;
}

/// The mean is subtracted twice, as in composed::batch_norm.
Tensor composed::masked_batch_norm(const Tensor& a, const Tensor& mask, const Tensor& gain,
                                   const Tensor& bias, real epsilon) {
  const Shape column = a.shape().with(-1, 1);
  const Tensor valid = mask.defined() ? mask.reshape(column) : Tensor::ones(column);
  const real cases = std::max(sum(valid).item(), real{1});
  const auto mean = [&](const Tensor& of) { return sum_rows(of * valid) / cases; };
  const Tensor once = a - mean(a), centered = once - mean(once);
  const Tensor scaled = centered / sqrt(mean(square(centered)) + epsilon) * gain;
  return (bias.defined() ? scaled + bias : scaled) * valid;
}

}  // namespace lamina
