#include "layers/recurrent/fused/step_norm.h"

#include <algorithm>

#include "core/distributed/batch_part.h"
#include "core/ops/map.h"
#include "layers/statistics/row_norm.h"

namespace lamina {

StepNormParameters make_step_norm(Parameters& parameters, const std::string& name,
                                  const StepNormOptions& options) {
  require_norm("step norm '" + name + "'", options.norm, {Norm::none, Norm::layer, Norm::batch});
  StepNormParameters made{.norm = options.norm, .segments = options.segments};
  if (options.norm == Norm::none) return made;
  const size_t width = made.width();
  made.gain = parameters.add(name + ".gain", Tensor::full({width}, options.gain));
  if (options.bias) made.bias = parameters.add(name + ".bias", Tensor::zeros({width}));
  if (options.norm == Norm::batch)
    made.population = make_population(parameters, name, options.max_steps, width);
  return made;
}

StepNorm::StepNorm(const StepNormParameters& parameters, size_t steps, size_t rows, Mode mode)
    : parameters_(parameters),
      mode_(mode),
      fixed_(parameters.norm == Norm::batch && mode == Mode::evaluate),
      synchronized_(parameters.norm == Norm::batch && mode == Mode::train &&
                    distributed::synchronizes_statistics()),
      rows_(rows) {
  if (!active()) return;
  const size_t width = parameters.width();
  if (!parameters_.bias.defined()) parameters_.bias = Tensor::zeros({width});
  statistics_ = parameters.norm == Norm::layer ? Tensor({steps, rows, 4}) : Tensor({steps, 2, width});
  if (fixed_) take_population(steps);
  if (parameters.norm == Norm::batch && !fixed_) cases_before_ = parameters.population.cases.copy();
  if (synchronized_) all_cases_ = Tensor({steps}), sums_ = Tensor({2, width});
}

/// Takes the population's statistics for each step, or those of the last step before it that was reached.
void StepNorm::take_population(size_t steps) {
  const Population& from = parameters_.population;
  size_t reached = 0;
  for (size_t t = 0; t < steps; ++t) {
    if (t < from.cases.size() && from.cases[t] > 0) reached = t;
    std::ranges::copy(from.mean.step(reached).values(), means(t));
    column_norm::invert(from.variance.step(reached).data(), parameters_.epsilon, 0, width(),
                        means(t) + width());
  }
}

void StepNorm::open(size_t t) {
  const Tensor& cases = parameters_.population.cases;
  if (cases_before_.defined() && t < cases.size()) cases_before_[t] = cases[t];
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
  const column_norm::Cases cases = cases_of(raw, mask);
  const auto count = static_cast<real>(cases.count());
  column_norm::moments(cases, count, begin, end, means(t), means(t) + width());
  if (!synchronized_) settle(t, begin, end, count);
}

void StepNorm::merge_ranks(size_t t, const Share& share, const real* mask) {
  if (!synchronized_) return;
  if (share.thread == 0) {
    const std::span statistics(means(t), 2 * width());
    all_cases_[t] = column_norm::merge_ranks(cases_of(nullptr, mask).count(), 0, statistics.first(width()),
                                             statistics.last(width()));
    settle(t, 0, width(), all_cases_[t]);
  }
  share.wait();
}

/// What is behind the means of step t, the variance over `count` cases, becomes the inverse deviation.
void StepNorm::settle(size_t t, size_t begin, size_t end, real count) {
  real *const mean = means(t), *const variance = mean + width();
  parameters_.population.enter(t, mode_, cases_before_, {count, mean, variance, begin, end});
  column_norm::invert(variance, parameters_.epsilon, begin, end, variance);
}

void StepNorm::normalize_row(size_t t, size_t row, const real* raw, real* out) const {
  const real *gain = parameters_.gain.data(), *bias = parameters_.bias.data();
  if (parameters_.norm == Norm::layer) {
    const real* kept = statistics_.data() + 4 * (t * rows_ + row);
    for (const size_t segment : parameters_.segments) {
      row_norm::apply(raw, segment, {kept[0], kept[1]}, gain, bias, out);
      raw += segment, out += segment, gain += segment, bias += segment, kept += 2;
    }
    return;
  }
  column_norm::apply(raw, {means(t), means(t) + width()}, gain, bias, 0, width(), out);
}

void StepNorm::backward_row(size_t t, size_t row, const real* raw, const real* dnormalized, real* draw,
                            real* sums) const {
  const real* gain = parameters_.gain.data();
  real *dgain = sums, *dbias = sums + width();
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
  const real *const mean = means(t), *const inverse = mean + width();
#pragma omp simd
  for (size_t c = 0; c < width(); ++c) {
    const real upstream = dnormalized[c];
    dgain[c] += upstream * (raw[c] - mean[c]) * inverse[c];
    dbias[c] += upstream;
    draw[c] = upstream * gain[c] * inverse[c];
  }
}

void StepNorm::backward_columns(size_t t, const Share& share, const real* raw, real* d, const real* mask,
                                real* sums) {
  real *const dgain = sums, *const dbias = sums + width();
  const column_norm::Cases cases = cases_of(raw, mask);
  const column_norm::Statistics s{means(t), means(t) + width()};
  const real* const gain = parameters_.gain.data();
  if (!synchronized_) {
    const auto count = static_cast<real>(cases.count());
    share.for_columns(width(), [&](size_t begin, size_t end) {
      column_norm::backward(cases, d, s, gain, {count, count}, begin, end, {d, false}, dgain, dbias);
    });
    return;
  }
  real *const level = sums_.data(), *const along = level + width();
  share.for_columns(width(), [&](size_t begin, size_t end) {
    column_norm::sum_derivatives(cases, d, s, begin, end, level + begin, along + begin);
    for (size_t c = begin; c < end; ++c) dbias[c] += level[c], dgain[c] += along[c];
  });
  share.wait();
  if (share.thread == 0) {
    column_norm::sum_ranks(sums_.values());
    for (real& sum : sums_.values()) sum /= all_cases_[t];
  }
  share.wait();
  share.for_columns(width(), [&](size_t begin, size_t end) {
    column_norm::subtract_means(cases, d, s, gain, begin, end, level + begin, along + begin, {d, false});
  });
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
