#include "layers/recurrent/step_norm.h"

#include <algorithm>
#include <cmath>

#include "core/ops/map.h"
#include "layers/column_moments.h"
#include "layers/row_norm.h"

namespace lamina {

StepNormParameters make_step_norm(Parameters& parameters, const std::string& name,
                                  const StepNormOptions& options) {
  StepNormParameters made{.norm = options.norm, .segments = options.segments};
  if (options.norm == Norm::none) return made;
  const size_t width = made.width();
  made.gain = parameters.add(name + ".gain", Tensor::full({width}, options.gain));
  if (options.bias) made.bias = parameters.add(name + ".bias", Tensor::zeros({width}));
  if (options.norm == Norm::batch) {
    made.population_mean = parameters.add_state(name + ".mean", Tensor::zeros({options.max_steps, width}));
    made.population_variance =
        parameters.add_state(name + ".variance", Tensor::ones({options.max_steps, width}));
    made.population_cases = parameters.add_state(name + ".cases", Tensor::zeros({options.max_steps}));
  }
  return made;
}

void forget_population(const StepNormParameters& parameters) {
  if (parameters.norm != Norm::batch) return;
  Tensor cases = parameters.population_cases;
  std::ranges::fill(cases.values(), real{0});
}

StepNorm::StepNorm(const StepNormParameters& parameters, size_t steps, size_t rows, Mode mode)
    : parameters_(parameters),
      mode_(mode),
      fixed_(parameters.norm == Norm::batch && mode == Mode::evaluate),
      rows_(rows) {
  if (!active()) return;
  const size_t width = parameters.width();
  if (!parameters_.bias.defined()) parameters_.bias = Tensor::zeros({width});
  statistics_ = parameters.norm == Norm::layer ? Tensor({steps, rows, 4}) : Tensor({steps, 2, width});
  if (fixed_) take_population(steps);
  if (parameters.norm == Norm::batch && !fixed_) cases_before_ = parameters.population_cases.copy();
}

/// The population's statistics of each step, or of the last step before it that was reached.
void StepNorm::take_population(size_t steps) {
  const StepNormParameters& from = parameters_;
  const size_t width = from.width();
  size_t reached = 0;
  for (size_t t = 0; t < steps; ++t) {
    if (t < from.population_cases.size() && from.population_cases[t] > 0) reached = t;
    real *const mean = statistics_.data() + 2 * t * width, *const inverse = mean + width;
    for (size_t c = 0; c < width; ++c) {
      mean[c] = from.population_mean[reached * width + c];
      inverse[c] = 1 / std::sqrt(from.population_variance[reached * width + c] + from.epsilon);
    }
  }
}

void StepNorm::measure_row(size_t t, size_t row, const real* raw) {
  if (parameters_.norm != Norm::layer) return;
  real* kept = statistics_.data() + 4 * (t * rows_ + row);
  for (const size_t width : parameters_.segments) {
    if (width == 0) continue;
    const auto [mean, inverse] = row_norm::statistics<true>(raw, width, parameters_.epsilon);
    *kept++ = mean;
    *kept++ = inverse;
    raw += width;
  }
}

void StepNorm::measure_columns(size_t t, size_t begin, size_t end, const real* raw, const real* mask) {
  const size_t width = parameters_.width();
  real *const mean = statistics_.data() + 2 * t * width, *const inverse = mean + width;
  const Cases cases = {.rows = rows_, .width = width, .values = raw, .mask = mask};
  const size_t count = cases.count();
  if (count == 0) {  // everybody is padded: nothing is normalized and no gradient comes back
    std::fill(mean + begin, mean + end, real{0});
    std::fill(inverse + begin, inverse + end, real{0});
    return;
  }
  column_moments(cases, static_cast<real>(count), begin, end, mean, inverse);
  enter_population(t, begin, end, static_cast<real>(count), mean, inverse);
  for (size_t c = begin; c < end; ++c) inverse[c] = 1 / std::sqrt(inverse[c] + parameters_.epsilon);
}

/// The first batch that reaches a step gives its statistics, later ones are averaged in. A single case has no
/// variance to tell and leaves the population alone.
void StepNorm::enter_population(size_t t, size_t begin, size_t end, real cases, const real* mean,
                                const real* variance) {
  const StepNormParameters& to = parameters_;
  const bool enters = mode_ == Mode::train || mode_ == Mode::measure_population;
  if (!enters || cases < 2 || t >= to.population_cases.size()) return;
  const real before = cases_before_[t];
  const real weight = before == 0 ? 1 : mode_ == Mode::train ? to.momentum : cases / (before + cases);
  if (begin == 0) parameters_.population_cases[t] = before + cases;
  real* const population_mean = parameters_.population_mean.data() + t * to.width();
  real* const population_variance = parameters_.population_variance.data() + t * to.width();
  for (size_t c = begin; c < end; ++c) {
    population_mean[c] = (1 - weight) * population_mean[c] + weight * mean[c];
    population_variance[c] = (1 - weight) * population_variance[c] + weight * variance[c];
  }
}

void StepNorm::normalize_row(size_t t, size_t row, const real* raw, real* out) const {
  const size_t width = parameters_.width();
  const real *gain = parameters_.gain.data(), *bias = parameters_.bias.data();
  if (parameters_.norm == Norm::layer) {
    const real* kept = statistics_.data() + 4 * (t * rows_ + row);
    for (const size_t segment : parameters_.segments) {
      row_norm::apply(raw, segment, {kept[0], kept[1]}, gain, bias, out);
      raw += segment, out += segment, gain += segment, bias += segment, kept += 2;
    }
    return;
  }
  const real *const mean = statistics_.data() + 2 * t * width, *const inverse = mean + width;
#pragma omp simd
  for (size_t c = 0; c < width; ++c) out[c] = (raw[c] - mean[c]) * inverse[c] * gain[c] + bias[c];
}

void StepNorm::backward_row(size_t t, size_t row, const real* raw, const real* dnormalized, real* draw,
                            real* dgain, real* dbias) const {
  const size_t width = parameters_.width();
  const real* gain = parameters_.gain.data();
  if (parameters_.norm == Norm::layer) {
    const real* kept = statistics_.data() + 4 * (t * rows_ + row);
    for (const size_t segment : parameters_.segments) {
      if (segment == 0) continue;
      row_norm::backward<true>(raw, dnormalized, segment, {kept[0], kept[1]}, gain, draw, false, dgain,
                               dbias);
      raw += segment, dnormalized += segment, draw += segment;
      gain += segment, dgain += segment, dbias += segment, kept += 2;
    }
    return;
  }
  const real *const mean = statistics_.data() + 2 * t * width, *const inverse = mean + width;
#pragma omp simd
  for (size_t c = 0; c < width; ++c) {
    const real upstream = dnormalized[c];
    dgain[c] += upstream * (raw[c] - mean[c]) * inverse[c];
    dbias[c] += upstream;
    draw[c] = upstream * gain[c] * inverse[c];
  }
}

/// As in layers/batch_norm.cpp, with N the number of cases that are not padded.
void StepNorm::backward_columns(size_t t, size_t begin, size_t end, const real* raw, real* d,
                                const real* mask, real* dgain, real* dbias) const {
  constexpr size_t block = 64;
  const size_t width = parameters_.width();
  const real *const mean = statistics_.data() + 2 * t * width, *const inverse = mean + width;
  const real* const gain = parameters_.gain.data();
  const auto cases = static_cast<real>(Cases{.rows = rows_, .mask = mask}.count());
  if (cases == 0) return;
  for (size_t first = begin; first < end; first += block) {
    const size_t count = std::min(block, end - first);
    real along[block], level[block];
    two_column_sums(rows_, 0, count, level, along, [=](size_t r) {
      const size_t start = r * width + first;
      return [=](size_t c) {
        const real n = (raw[start + c] - mean[first + c]) * inverse[first + c];
        return Pair{d[start + c], d[start + c] * n};
      };
    });
    for (size_t r = 0; r < rows_; ++r) {
      if (mask != nullptr && mask[r] == 0) continue;
      const size_t start = r * width + first;
#pragma omp simd
      for (size_t c = 0; c < count; ++c) {
        const real n = (raw[start + c] - mean[first + c]) * inverse[first + c];
        d[start + c] =
            gain[first + c] * inverse[first + c] * (d[start + c] - (level[c] + n * along[c]) / cases);
      }
    }
    for (size_t c = 0; c < count; ++c) {
      dgain[first + c] += along[c];
      dbias[first + c] += level[c];
    }
  }
}

void StepNorm::contribute(const real* sums, size_t threads, size_t stride) const {
  if (!active()) return;
  const size_t width = parameters_.width();
  contribute_summed_rows(parameters_.gain, threads,
                         [=](size_t thread, size_t c) { return sums[thread * stride + c]; });
  contribute_summed_rows(parameters_.bias, threads,
                         [=](size_t thread, size_t c) { return sums[thread * stride + width + c]; });
}

}  // namespace lamina
