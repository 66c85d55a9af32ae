#include <lamina/extend.h>

#include "exercises.h"
using namespace lamina;

/// y_rk = sum_j x_rj w_kj + b_k: x [R x J], w [K x J], b [K], y [R x K]
///
/// dx_rj = sum_k dy_rk w_kj;  dw_kj = sum_r dy_rk x_rj;  db_k = sum_r dy_rk
///
/// One line of the backward pass is wrong.
Tensor affine(const Tensor& x, const Tensor& w, const Tensor& b) {
  const size_t rows = x.rows(), inputs = x.columns(), outputs = w.rows();
  Tensor y = Tensor::zeros({rows, outputs});
  for (size_t r = 0; r < rows; ++r)
    for (size_t k = 0; k < outputs; ++k) {
      y[r * outputs + k] = b[k];
      for (size_t j = 0; j < inputs; ++j) y[r * outputs + k] += x[r * inputs + j] * w[k * inputs + j];
    }
  return record("affine", y, {x, w, b}, [=] {
    Tensor dx = Tensor::zeros(x.shape()), dw = Tensor::zeros(w.shape()), db = Tensor::zeros(b.shape());
    const real* const dy = y.gradient_data();
    for (size_t r = 0; r < rows; ++r)
      for (size_t k = 0; k < outputs; ++k) {
        // [
        db[k] += dy[r * outputs + k];
        // | db[k] = dy[r * outputs + k];
        // ]
        // mistake: your d(b) is the mean over the rows; it must be the sum
        // ~ db[k] += dy[r * outputs + k] / static_cast<real>(rows);
        for (size_t j = 0; j < inputs; ++j) {
          dx[r * inputs + j] += dy[r * outputs + k] * w[k * inputs + j];
          dw[k * inputs + j] += dy[r * outputs + k] * x[r * inputs + j];
        }
      }
    contribute(x, [from = dx.data()](size_t i) { return from[i]; });
    contribute(w, [from = dw.data()](size_t i) { return from[i]; });
    contribute(b, [from = db.data()](size_t i) { return from[i]; });
  });
}
