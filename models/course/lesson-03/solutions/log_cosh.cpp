#include <lamina/extend.h>

#include <cmath>

#include "exercises.h"
using namespace lamina;

/// y = log(cosh(x));  dx = dy tanh(x)
///
/// One line of the backward pass is wrong.
Tensor log_cosh(const Tensor& x) {
  const Tensor y = generate(x.shape(), [in = x.data()](size_t i) { return std::log(std::cosh(in[i])); });
  return record("log_cosh", y, {x}, [x, y] {
    const real *const in = x.data(), *const out = y.data(), *const dy = y.gradient_data();
    // [
    contribute(x, [=](size_t i) { return dy[i] * scalar::tanh(in[i]); });
    // | contribute(x, [=](size_t i) { return dy[i] * scalar::tanh(out[i]); });
    // ]
    // mistake: your d(x) lacks the factor dy
    // ~ contribute(x, [=](size_t i) { return scalar::tanh(in[i]); });
    // mistake: your d(x) is dy / cosh(x): the derivative of log(c) is 1 / c, times that of c
    // ~ contribute(x, [=](size_t i) { return dy[i] / std::cosh(in[i]); });
  });
}
