#include <lamina/extend.h>

#include <cmath>

#include "exercises.h"
using namespace lamina;

/// y = x^2 / 2 where |x| <= 1, else |x| - 1/2: the squared error for small x, and a fixed slope for large ones
///
/// One line of the backward pass is wrong.
Tensor huber(const Tensor& x) {
  const Tensor y = generate(x.shape(), [in = x.data()](size_t i) {
    const real size = std::fabs(in[i]);
    // [
    return size <= 1 ? in[i] * in[i] / 2 : size - real(0.5);
    // | return size <= 1 ? in[i] * in[i] / 2 : size - real(0.5);
    // ]
    // mistake: your y is not what the comment says any more: the bug is in the backward pass
    // ~ return in[i] <= 1 ? in[i] * in[i] / 2 : size - real(0.5);
  });
  return record("huber", y, {x}, [x, y] {
    const real *const in = x.data(), *const dy = y.gradient_data();
    contribute(x, [=](size_t i) {
      // [
      const real slope = std::fabs(in[i]) <= 1 ? in[i] : std::copysign(real(1), in[i]);
      // | const real slope = in[i] <= 1 ? in[i] : real(1);
      // ]
      // mistake: your d(x) is zero beyond 1, where the loss still rises
      // ~ const real slope = std::fabs(in[i]) <= 1 ? in[i] : real(0);
      // mistake: your d(x) is positive below -1, where the loss falls when x grows
      // ~ const real slope = std::fabs(in[i]) <= 1 ? in[i] : real(1);
      return dy[i] * slope;
    });
  });
}
