#include "layers/norms/variants/dyt.h"

#include "core/math/math.h"
#include "core/ops.h"
#include "layers/named.h"
#include "layers/statistics/summed_rows.h"

namespace lamina {

Tensor composed::dyt(const Tensor& a, const Tensor& alpha, const Tensor& gain, const Tensor& bias) {
  return tanh(a * alpha) * gain + bias;
}

namespace {

/// y_i = gain_i tanh(alpha a_i) + bias_i
void apply(const real* a, size_t size, real alpha, const real* gain, const real* bias, real* y) {
#pragma omp simd
  for (size_t i = 0; i < size; ++i) y[i] = scalar::tanh(alpha * a[i]) * gain[i] + bias[i];
}

/// With t = tanh(alpha a) and d = dy gain (1 - t^2):
///
///   da_i = d_i alpha,   dgain_i += dy_i t_i,   dbias_i += dy_i,   dalpha_i += d_i a_i, unit i's part of the derivative
///
/// `add` adds to da instead of writing it; g++ 12 vectorizes the loop only where it knows which when it compiles. Where t
/// is 1 or -1, a may be infinite.
template <bool add>
void backward(const real* a, const real* dy, size_t size, real alpha, const real* gain, real* da, real* dgain,
              real* dbias, real* dalpha) {
#pragma omp simd
  for (size_t i = 0; i < size; ++i) {
    const real upstream = dy[i], x = a[i], t = scalar::tanh(alpha * x), slope = 1 - t * t;
    const real d = upstream * gain[i] * slope;
    dgain[i] += upstream * t;
    dbias[i] += upstream;
    dalpha[i] += d * (slope == 0 ? real{0} : x);
    da[i] = (add ? da[i] : 0) + d * alpha;
  }
}

}  // namespace

Tensor dyt(const Tensor& a, const Tensor& alpha, const Tensor& gain, const Tensor& bias) {
  require_features("dyt", a);
  if (alpha.shape() != Shape{1}) fail("dyt: alpha is ", alpha.shape(), "; it must be [1]");
  require_features("dyt", a, gain, "gain");
  require_features("dyt", a, bias, "bias");
  const size_t rows = a.rows(), columns = a.columns();
  Tensor y(a.shape());
  parallel_for(rows, row_grain(columns),
               [=, in = a.data(), g = gain.data(), b = bias.data(), slope = alpha.item(), out = y.data()](
                   size_t begin, size_t end) {
                 for (size_t r = begin; r < end; ++r)
                   apply(in + r * columns, columns, slope, g, b, out + r * columns);
               });

  return record({"dyt", OpKind::norm}, y, {a, alpha, gain, bias}, [=] {
    const GradientTarget da(a);
    // Of every row: the derivatives for the gain, for the bias, and each unit's part of that for alpha.
    const SummedRows sums(rows, columns, 3 * columns,
                          [=, x = a.data(), dy = y.gradient_data(), g = gain.data(), slope = alpha.item(),
                           to = da.sink()](size_t r, real* of_row) {
                            const size_t first = r * columns;
                            const auto pass = to.add ? backward<true> : backward<false>;
                            pass(x + first, dy + first, columns, slope, g, to.values + first, of_row,
                                 of_row + columns, of_row + 2 * columns);
                          });
    sums.contribute_to(gain, 0);
    sums.contribute_to(bias, columns);
    sums.contribute_total_to(alpha, 2 * columns, columns);
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
