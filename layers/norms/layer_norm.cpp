#include "layers/norms/layer_norm.h"

#include "core/ops.h"
#include "layers/named.h"
#include "layers/statistics/row_norm.h"
#include "layers/statistics/summed_rows.h"

namespace lamina {

/// The mean is taken of the distances from the first unit, which are 0 in a constant row: otherwise
/// 1 / sqrt(epsilon) would magnify the rounding error of the mean.
Tensor composed::layer_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon) {
  const Tensor first = slice(a.detach(), -1, 0, 1), mean = first + mean_columns(a - first);
  const Tensor centered = a - mean;
  const Tensor deviation = sqrt(mean_columns(square(centered)) + epsilon);
  return centered / deviation * gain + bias;
}

Tensor composed::rms_norm(const Tensor& a, const Tensor& gain, real epsilon) {
  return a / sqrt(mean_columns(square(a)) + epsilon) * gain;
}

namespace {

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

  return record({op, OpKind::norm}, y, {a, gain, bias}, [=] {
    const auto* const kept_statistics = reinterpret_cast<const row_norm::Statistics*>(statistics.data());
    const GradientTarget da(a);
    // Of every row: the derivatives for the gain, then those for the bias.
    const SummedRows sums(
        rows, columns, 2 * columns,
        [=, x = a.data(), dy = y.gradient_data(), g = gain.data(), to = da.sink()](size_t r, real* of_row) {
          const size_t first = r * columns;
          row_norm::backward<centered>(x + first, dy + first, columns, kept_statistics[r], g,
                                       to.values + first, to.add, of_row, of_row + columns);
        });
    sums.contribute_to(gain, 0);
    sums.contribute_to(bias, columns);
  });
}

}  // namespace

Tensor layer_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon) {
  require_features("layer_norm", a);
  require_features("layer_norm", a, gain, "gain");
  require_features("layer_norm", a, bias, "bias");
  return normalize_rows<true>("layer_norm", a, gain, bias, epsilon);
}

Tensor rms_norm(const Tensor& a, const Tensor& gain, real epsilon) {
  require_features("rms_norm", a);
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
