#include "layers/norms/weight_standardization.h"

#include <cmath>

#include "core/ops.h"
#include "layers/statistics/column_norm.h"

namespace lamina {

namespace {

/// One column for every unit.
Tensor columns_of(const Tensor& v, const Tensor& gain) {
  if (v.shape().rank() < 2 || gain.shape() != Shape{v.columns()} || v.rows() == 0)
    fail("weight_standardization: v is ", v.shape(), ", the gain ", gain.shape(),
         "; one gain a column is needed");
  return v.reshape({v.rows(), v.columns()});
}

real root_of_fan_in(const Tensor& v) { return std::sqrt(static_cast<real>(v.rows())); }

}  // namespace

Tensor composed::weight_standardization(const Tensor& v, const Tensor& gain, real epsilon) {
  const Tensor columns = columns_of(v, gain);
  const Tensor once = columns - mean_rows(columns),
               centered = once - mean_rows(once);  // as in composed::batch_norm
  const Tensor deviation = sqrt(mean_rows(square(centered)) + epsilon);
  return (centered / deviation * (gain / root_of_fan_in(v))).reshape(v.shape());
}

/// It is batch norm of the columns, with F cases and without a bias.
Tensor weight_standardization(const Tensor& v, const Tensor& gain, real epsilon) {
  const Tensor columns = columns_of(v, gain), mean(gain.shape()), variance(gain.shape());
  return column_norm::normalize({.op = "weight_standardization", .epsilon = epsilon}, columns,
                                gain / root_of_fan_in(v), {}, mean, variance)
      .reshape(v.shape());
}

Tensor standardization_gain(const Tensor& v, real epsilon) {
  const Tensor mean({v.columns()}), variance({v.columns()});
  column_norm::measure(v, {}, 0, mean, variance);
  return (sqrt(variance + epsilon) * root_of_fan_in(v)).copy();
}

}  // namespace lamina
