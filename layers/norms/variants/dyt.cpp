#include "layers/norms/variants/dyt.h"

#include "core/math/math.h"
#include "core/ops.h"
#include "layers/named.h"
#include "layers/statistics/row_sums.h"

namespace lamina {

Tensor composed::dyt(const Tensor& a, const Tensor& alpha, const Tensor& gain, const Tensor& bias) {
  return tanh(a * alpha) * gain + bias;
}

namespace {

void require_shapes(const Tensor& a, const Tensor& alpha, const Tensor& gain, const Tensor& bias) {
  if (a.shape().rank() == 0 || a.columns() == 0)
    fail("dyt: ", a.shape(), " has no features in its last axis");
  if (alpha.shape() != Shape{1}) fail("dyt: alpha is ", alpha.shape(), "; it must be [1]");
  for (const auto& [parameter, which] : {std::pair{&gain, "gain"}, {&bias, "bias"}})
    if (parameter->shape() != Shape{a.columns()})
      fail("dyt: the ", which, " is ", parameter->shape(), ", the input ", a.shape(), "; it must be [",
           a.columns(), "]");
}

}  // namespace

/// With t = tanh(alpha a) and d = dy gain (1 - t^2):
///
///   da = d alpha,   dalpha = sum d a over everything,   dgain = sum dy t and dbias = sum dy over the rows
Tensor dyt(const Tensor& a, const Tensor& alpha, const Tensor& gain, const Tensor& bias) {
  require_shapes(a, alpha, gain, bias);
  const size_t rows = a.rows(), columns = a.columns();
  Tensor y(a.shape());
  parallel_for(rows, row_grain(columns),
               [=, in = a.data(), g = gain.data(), b = bias.data(), slope = alpha.item(), out = y.data()](
                   size_t begin, size_t end) {
                 for (size_t r = begin; r < end; ++r)
#pragma omp simd
                   for (size_t i = 0; i < columns; ++i)
                     out[r * columns + i] = scalar::tanh(slope * in[r * columns + i]) * g[i] + b[i];
               });

  return record({"dyt", OpKind::norm}, y, {a, alpha, gain, bias}, [=] {
    const GradientTarget da(a);
    // Of every row: the derivatives for the gain, for the bias, and each unit's part of that for alpha.
    const RowSums sums(
        rows, columns, 3 * columns,
        [=, x = a.data(), dy = y.gradient_data(), g = gain.data(), slope = alpha.item(), to = da.sink()](
            size_t r, real* of_row) {
          real *const dgain = of_row, *const dbias = dgain + columns, *const dalpha = dbias + columns;
#pragma omp simd
          for (size_t i = 0; i < columns; ++i) {
            const size_t at = r * columns + i;
            const real t = scalar::tanh(slope * x[at]), d = dy[at] * g[i] * (1 - t * t);
            dgain[i] += dy[at] * t;
            dbias[i] += dy[at];
            dalpha[i] += t * t == 1 ? 0 : d * x[at];  // x may be infinite there
            to.values[at] = (to.add ? to.values[at] : 0) + d * slope;
          }
        });
    sums.contribute_total_to(alpha, 2 * columns, columns);
    sums.contribute_to(gain, 0);
    sums.contribute_to(bias, columns);
  });
}

DyT::DyT(Parameters& parameters, const std::string& name, const DyTOptions& options)
    : alpha(parameters.add(name + ".alpha", Tensor::full({1}, options.alpha))),
      gain(parameters.add(name + ".gain", Tensor::full({options.features}, options.gain))),
      bias(parameters.add(name + ".bias", Tensor::zeros({options.features}))),
      name_(name) {}

Tensor DyT::operator()(const Tensor& a) const {
  return in_layer(name_, [&] { return dyt(a, alpha, gain, bias); });
}

}  // namespace lamina
