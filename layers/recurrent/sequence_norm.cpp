#include "layers/recurrent/sequence_norm.h"

#include <omp.h>

#include "core/ops/map.h"

namespace lamina {

namespace {

constexpr size_t grain = elementwise_grain / 4;

/// body(t, r) for every row, threads sharing them out.
template <class Body>
void for_each_row(size_t steps, size_t rows, size_t width, const Body& body) {
  parallel_for(steps * rows, grain / (width + 1) + 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) body(i / rows, i % rows);
  });
}

/// body(t, begin, end) for every step, each thread with columns of its own.
template <class Body>
void for_each_columns(size_t steps, size_t rows, size_t width, const Body& body) {
  parallel_for(
      width, grain / (steps * rows + 1) + 1,
      [&](size_t begin, size_t end) {
        for (size_t t = 0; t < steps; ++t) body(t, begin, end);
      },
      16);
}

}  // namespace

Tensor sequence_norm(const StepNormParameters& parameters, const Tensor& raw, const Tensor& mask, Mode mode) {
  if (parameters.norm == Norm::none) return raw;
  const size_t steps = raw.shape()[0], rows = raw.shape()[1], width = raw.columns();
  StepNorm norm(parameters, steps, rows, mode);
  const real* const x = raw.data();
  const auto mask_at = [=](size_t t) { return mask.defined() ? mask.data() + t * rows : nullptr; };
  if (!norm.by_rows())
    for_each_columns(steps, rows, width, [&](size_t t, size_t begin, size_t end) {
      norm.measure_columns(t, begin, end, x + t * rows * width, mask_at(t));
    });
  Tensor y(raw.shape());
  for_each_row(steps, rows, width, [&, out = y.data()](size_t t, size_t r) {
    const size_t at = (t * rows + r) * width;
    norm.measure_row(t, r, x + at);
    norm.normalize_row(t, r, x + at, out + at);
  });

  return record("sequence_norm", y, {raw, parameters.gain, parameters.bias}, [=] {
    const real *const from = raw.data(), *const dy = y.gradient_data();
    Tensor d(raw.shape());
    real* const dx = d.data();
    const auto team = static_cast<size_t>(threads());
    Tensor sums = Tensor::zeros({team, 2 * width});
    const auto own_sums = [&] { return sums.data() + static_cast<size_t>(omp_get_thread_num()) * 2 * width; };
    for_each_row(steps, rows, width, [&](size_t t, size_t r) {
      const size_t at = (t * rows + r) * width;
      const bool padded = mask.defined() && mask_at(t)[r] == 0;
      for (size_t c = 0; c < width; ++c) dx[at + c] = padded ? 0 : dy[at + c];
      if (norm.by_rows()) norm.backward_row(t, r, from + at, dx + at, own_sums(), own_sums() + width);
    });
    if (!norm.by_rows())
      for_each_columns(steps, rows, width, [&](size_t t, size_t begin, size_t end) {
        norm.backward_columns(t, begin, end, from + t * rows * width, dx + t * rows * width, mask_at(t),
                              own_sums(), own_sums() + width);
      });
    contribute(raw, [=](size_t i) { return dx[i]; });
    norm.contribute(sums.data(), team, 2 * width);
  });
}

}  // namespace lamina
