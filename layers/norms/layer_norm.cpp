#include "layers/norms/layer_norm.h"

#include "core/ops.h"
#include "core/ops/map.h"
#include "layers/named.h"
#include "layers/statistics/row_norm.h"

namespace lamina {

namespace composed {

/// The mean is taken of the distances from the first unit, which are 0 in a constant row: otherwise
/// 1 / sqrt(epsilon) would magnify the rounding error of the mean.
Tensor layer_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon) {
  const Tensor first = slice(a.detach(), -1, 0, 1), mean = first + mean_columns(a - first);
  const Tensor centered = a - mean;
  const Tensor deviation = sqrt(mean_columns(square(centered)) + epsilon);
  return centered / deviation * gain + bias;
}

Tensor rms_norm(const Tensor& a, const Tensor& gain, real epsilon) {
  return a / sqrt(mean_columns(square(a)) + epsilon) * gain;
}

}  // namespace composed

namespace {

constexpr size_t row_grain(size_t columns) { return grain_of(columns, elementwise_grain / 4); }

void require_features(const char* op, const Tensor& a, const Tensor& parameter, const char* which) {
  if (a.shape().rank() == 0 || a.columns() == 0)
    fail(op, ": ", a.shape(), " has no features in its last axis");
  if (parameter.shape() != Shape{a.columns()})
    fail(op, ": the ", which, " is ", parameter.shape(), ", the input ", a.shape(), "; it must be [",
         a.columns(), "]");
}

/// Adds one row of partial sums per share to the gradient of a parameter, in the order of the shares.
void contribute_partial_sums(const Tensor& parameter, const real* partial, size_t shares, size_t stride) {
  contribute_summed_rows(parameter, shares,
                         [=](size_t share, size_t c) { return partial[share * stride + c]; });
}

/// The backward pass of some rows.
template <bool centered>
struct RowsBackward {
  size_t columns;
  const real *a, *dy, *gain;
  const row_norm::Statistics* statistics;
  GradientSink da;

  /// Adds dgain and dbias [2 x columns] of the rows [begin, end) to `sums`, many rows pairwise (core/math/sum.h).
  void operator()(size_t begin, size_t end, real* sums) const {
    constexpr size_t rows_in_sequence = 256;
    if (end - begin > rows_in_sequence) {
      const size_t middle = begin + (end - begin) / 2;
      Tensor below = Tensor::zeros({2, columns});
      (*this)(begin, middle, sums);
      real* const rest = below.data();
      (*this)(middle, end, rest);
#pragma omp simd
      for (size_t c = 0; c < 2 * columns; ++c) sums[c] += rest[c];
      return;
    }
    for (size_t r = begin; r < end; ++r)
      row_norm::backward<centered>(a + r * columns, dy + r * columns, columns, statistics[r], gain,
                                   da.values + r * columns, da.add, sums, sums + columns);
  }
};

template <bool centered>
Tensor normalize_rows(const char* op, const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon) {
  const size_t rows = a.rows(), columns = a.columns();
  Tensor y(a.shape()), statistics({rows, 2});
  auto* const kept = reinterpret_cast<row_norm::Statistics*>(statistics.data());
  parallel_for(
      rows, row_grain(columns),
      [=, in = a.data(), out = y.data(), g = gain.data(), b = bias.data()](size_t begin, size_t end) {
        for (size_t r = begin; r < end; ++r) {
          kept[r] = row_norm::statistics<centered>(in + r * columns, columns, epsilon);
          row_norm::apply(in + r * columns, columns, kept[r], g, b, out + r * columns);
        }
      });

  return record(op, y, {a, gain, bias}, [=] {
    const auto* const s = reinterpret_cast<const row_norm::Statistics*>(statistics.data());
    const GradientTarget da(a);
    // One row of sums for gain and bias per share: no two shares write to the same place.
    const size_t shares = shares_of(rows, row_grain(columns));
    Tensor partial = Tensor::zeros({shares, 2, columns});
    const RowsBackward<centered> backward = {columns, a.data(), y.gradient_data(), gain.data(), s, da.sink()};
    for_each_share(shares, [=, &backward, sums = partial.data()](size_t share) {
      const Range range = part_of(rows, share, shares);
      backward(range.begin, range.end, sums + share * 2 * columns);
    });
    contribute_partial_sums(gain, partial.data(), shares, 2 * columns);
    contribute_partial_sums(bias, partial.data() + columns, shares, 2 * columns);
  });
}

}  // namespace

Tensor layer_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon) {
  require_features("layer_norm", a, gain, "gain");
  require_features("layer_norm", a, bias, "bias");
  return normalize_rows<true>("layer_norm", a, gain, bias, epsilon);
}

Tensor rms_norm(const Tensor& a, const Tensor& gain, real epsilon) {
  require_features("rms_norm", a, gain, "gain");
  return normalize_rows<false>("rms_norm", a, gain, Tensor::zeros({a.columns()}), epsilon);
}

LayerNorm::LayerNorm(Parameters& parameters, const std::string& name, const LayerNormOptions& options)
    : gain(parameters.add(name + ".gain", Tensor::full({options.features}, options.gain))),
      bias(parameters.add(name + ".bias", Tensor::zeros({options.features}))),
      epsilon(options.epsilon),
      name_(name) {}

RmsNorm::RmsNorm(Parameters& parameters, const std::string& name, const LayerNormOptions& options)
    : gain(parameters.add(name + ".gain", Tensor::full({options.features}, options.gain))),
      epsilon(options.epsilon),
      name_(name) {}

Tensor LayerNorm::operator()(const Tensor& a) const {
  return in_layer(name_, [&] { return layer_norm(a, gain, bias, epsilon); });
}

Tensor RmsNorm::operator()(const Tensor& a) const {
  return in_layer(name_, [&] { return rms_norm(a, gain, epsilon); });
}

}  // namespace lamina
