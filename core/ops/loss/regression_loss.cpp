#include "core/ops/loss/regression_loss.h"

#include <cmath>

#include "core/math/sum.h"
#include "core/ops/map.h"

namespace lamina {

namespace {

/// L = mean_i f(x_i - t_i);  dx_i = dL f'(x_i - t_i) / n,  dt_i = -dx_i
template <class Loss, class Derivative>
Tensor mean_of_differences(const char* op, const Tensor& predictions, const Tensor& targets, const Loss& loss,
                           const Derivative& derivative) {
  require_values(op, predictions, targets);
  if (predictions.shape() != targets.shape())
    fail(op, ": predictions ", predictions.shape(), " and targets ", targets.shape(),
         " differ; reshape() one of them to the other's shape");
  if (predictions.size() == 0) fail(op, ": ", predictions.shape(), " has no elements, and so no mean");
  const auto count = static_cast<real>(predictions.size());
  const real total = sum_over(predictions.size(), [=, x = predictions.data(), t = targets.data()](size_t i) {
    return loss(x[i] - t[i]);
  });
  const Tensor mean = Tensor::full({}, total / count);
  return record(op, mean, {predictions, targets}, [=] {
    const real scale = *mean.gradient_data() / count;
    const real *const x = predictions.data(), *const t = targets.data();
    contribute(predictions, [=](size_t i) { return scale * derivative(x[i] - t[i]); });
    contribute(targets, [=](size_t i) { return -scale * derivative(x[i] - t[i]); });
  });
}

}  // namespace

/// f(d) = d^2, f'(d) = 2 d
Tensor mean_squared_error(const Tensor& predictions, const Tensor& targets) {
  return mean_of_differences(
      "mean_squared_error", predictions, targets, [](real d) { return d * d; }, [](real d) { return 2 * d; });
}

/// f(d) = d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2);  f'(d) = d, kept within -delta and delta
Tensor huber(const Tensor& predictions, const Tensor& targets, const HuberOptions& options) {
  const real delta = options.delta;
  if (!(delta > 0)) fail("huber: delta is ", delta, "; it must be positive");
  return mean_of_differences(
      "huber", predictions, targets,
      [=](real d) {
        const real size = std::fabs(d);
        return size <= delta ? d * d / 2 : delta * (size - delta / 2);
      },
      [=](real d) { return d < -delta  ? -delta
                           : d > delta ? delta
                                       : d; });
}

}  // namespace lamina
