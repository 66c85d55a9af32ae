#include "layers/masked_batch_norm.h"

#include <algorithm>

#include "core/ops.h"
#include "core/ops/map.h"
#include "layers/recurrent/step_norm.h"

namespace lamina {

namespace {

constexpr real epsilon = real(1e-5);

void require_shapes(const MaskedBatchNorm& norm, const Tensor& a, const Tensor& mask) {
  if (a.shape().rank() == 0 || norm.gain.shape() != Shape{a.columns()} || a.rows() == 0)
    fail("masked_batch_norm: the input is ", a.shape(), "; rows of ", norm.gain.size(), " are needed");
  if (mask.defined() && mask.size() != a.rows())
    fail("masked_batch_norm: the mask ", mask.shape(), " has not one number for each row of ", a.shape());
}

/// As a recurrent layer's normalization that has a single step, of which every row is a case.
StepNormParameters as_one_step(const MaskedBatchNorm& norm) {
  return {.norm = Norm::batch,
          .segments = {norm.gain.size(), 0},
          .gain = norm.gain,
          .bias = norm.bias,
          .population_mean = norm.population_mean,
          .population_variance = norm.population_variance,
          .population_cases = norm.population_cases,
          .epsilon = epsilon};
}

size_t grain(size_t others) { return grain_of(others, elementwise_grain / 4); }

}  // namespace

MaskedBatchNorm::MaskedBatchNorm(Parameters& parameters, const std::string& name,
                                 const MaskedBatchNormOptions& options) {
  const StepNormParameters made = make_step_norm(
      parameters, name,
      {.norm = Norm::batch, .segments = {options.features, 0}, .gain = options.gain, .bias = options.bias});
  gain = made.gain;
  bias = made.bias;
  population_mean = made.population_mean;
  population_variance = made.population_variance;
  population_cases = made.population_cases;
}

void MaskedBatchNorm::forget_population() const { lamina::forget_population(as_one_step(*this)); }

/// The formulas are in layers/batch_norm.cpp, with N the number of rows that are not padded.
Tensor MaskedBatchNorm::operator()(const Tensor& a, const Tensor& mask, Mode mode) const {
  require_shapes(*this, a, mask);
  const size_t rows = a.rows(), width = a.columns();
  StepNorm norm(as_one_step(*this), 1, rows, mode);
  const auto valid = [mask] { return mask.defined() ? mask.data() : nullptr; };
  if (!norm.by_rows())
    parallel_for(
        width, grain(rows),
        [&](size_t begin, size_t end) { norm.measure_columns(0, begin, end, a.data(), valid()); }, 16);
  Tensor y(a.shape());
  parallel_for(rows, grain(width), [&, to = y.data()](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r)
      if (mask.defined() && mask[r] == 0)
        std::fill_n(to + r * width, width, real{0});
      else
        norm.normalize_row(0, r, a.data() + r * width, to + r * width);
  });
  return record("masked_batch_norm", y, {a, gain, bias}, [=] {
    Tensor da(a.shape()), sums = Tensor::zeros({2, width});
    real *const d = da.data(), *const dgain = sums.data(), *const dbias = dgain + width;
    const real* const dy = y.gradient_data();
    for (size_t r = 0; r < rows; ++r) {
      const bool padded = mask.defined() && mask[r] == 0;
      if (padded)
        std::fill_n(d + r * width, width, real{0});
      else if (norm.by_rows())
        norm.backward_row(0, r, a.data() + r * width, dy + r * width, d + r * width, dgain, dbias);
      else
        std::copy_n(dy + r * width, width, d + r * width);
    }
    if (!norm.by_rows())
      parallel_for(
          width, grain(rows),
          [&](size_t begin, size_t end) {
            norm.backward_columns(0, begin, end, a.data(), d, valid(), dgain, dbias);
          },
          16);
    contribute(a, [d](size_t i) { return d[i]; });
    norm.contribute(sums.data(), 1, 2 * width);
  });
}

/// The mean is taken away twice, as in composed::batch_norm.
Tensor composed::masked_batch_norm(const MaskedBatchNorm& norm, const Tensor& a, const Tensor& mask) {
  require_shapes(norm, a, mask);
  const Shape column = a.shape().with(-1, 1);
  const Tensor valid = mask.defined() ? mask.reshape(column) : Tensor::ones(column);
  const real cases = std::max(sum(valid).item(), real{1});
  const auto mean = [&](const Tensor& of) { return sum_rows(of * valid) / cases; };
  const Tensor once = a - mean(a), centered = once - mean(once);
  const Tensor variance = mean(square(centered));
  const Tensor scaled = centered / sqrt(variance + epsilon) * norm.gain;
  return (norm.bias.defined() ? scaled + norm.bias : scaled) * valid;
}

}  // namespace lamina
