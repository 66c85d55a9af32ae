#include "layers/layer_norm.h"

#include "core/ops.h"
#include "core/ops/map.h"
#include "layers/row_norm.h"

namespace lamina {

namespace composed {

Tensor layer_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon) {
  const Tensor centered = a - mean_columns(a);
  const Tensor deviation = sqrt(mean_columns(square(centered)) + epsilon);
  return centered / deviation * gain + bias;
}

Tensor rms_norm(const Tensor& a, const Tensor& gain, real epsilon) {
  return a / sqrt(mean_columns(square(a)) + epsilon) * gain;
}

}  // namespace composed

namespace {

constexpr size_t row_grain(size_t columns) { return elementwise_grain / 4 / (columns + 1) + 1; }

void require_features(const char* op, const Tensor& a, const Tensor& parameter, const char* which) {
  if (a.shape().rank() == 0 || a.columns() == 0)
    fail(op, ": ", a.shape(), " has no features in its last axis");
  if (parameter.shape() != Shape{a.columns()})
    fail(op, ": the ", which, " is ", parameter.shape(), ", the input ", a.shape(), "; it must be [",
         a.columns(), "]");
}

/// Sums one row of partial sums a share into the gradient of a parameter, in the order of the shares.
void contribute_partial_sums(const Tensor& parameter, const real* partial, size_t shares, size_t stride) {
  contribute_summed_rows(parameter, shares,
                         [=](size_t share, size_t c) { return partial[share * stride + c]; });
}

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
    Tensor da_unused = a.needs_gradient() ? Tensor() : Tensor(a.shape());
    const GradientSink sink = a.needs_gradient() ? a.gradient_sink() : GradientSink{da_unused.data(), false};
    // One row of sums for gain and bias a share: no two write the same place.
    const size_t shares = shares_of(rows, row_grain(columns));
    Tensor partial = Tensor::zeros({shares, 2, columns});
    for_each_share(shares, [=, in = a.data(), dy = y.gradient_data(), g = gain.data(),
                            sums = partial.data()](size_t share) {
      real* const dgain = sums + share * 2 * columns;
      const Range range = part_of(rows, share, shares);
      for (size_t r = range.begin; r < range.end; ++r)
        row_norm::backward<centered>(in + r * columns, dy + r * columns, columns, s[r], g,
                                     sink.values + r * columns, sink.add, dgain, dgain + columns);
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
      epsilon(options.epsilon) {}

RmsNorm::RmsNorm(Parameters& parameters, const std::string& name, const LayerNormOptions& options)
    : gain(parameters.add(name + ".gain", Tensor::full({options.features}, options.gain))),
      epsilon(options.epsilon) {}

}  // namespace lamina
