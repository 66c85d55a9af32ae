#include <lamina/extend.h>

#include <cmath>

#include "exercises.h"
using namespace lamina;

/// y = (x - m) / s in every row of J numbers: m = mean of x, s^2 = mean of (x - m)^2
///
/// One line of the backward pass is wrong: it takes something for a constant that depends on x. Derive dx.
Tensor standardize(const Tensor& x) {
  const size_t rows = x.rows(), columns = x.columns();
  const auto count = static_cast<real>(columns);
  Tensor y(x.shape()), deviation({rows});
  for (size_t r = 0; r < rows; ++r) {
    const real* const in = x.data() + r * columns;
    real mean = 0, square = 0;
    for (size_t j = 0; j < columns; ++j) mean += in[j] / count;
    for (size_t j = 0; j < columns; ++j) square += (in[j] - mean) * (in[j] - mean) / count;
    deviation[r] = std::sqrt(square);
    for (size_t j = 0; j < columns; ++j) y[r * columns + j] = (in[j] - mean) / deviation[r];
  }
  return record("standardize", y, {x}, [=] {
    Tensor dx(x.shape());
    for (size_t r = 0; r < rows; ++r) {
      const real *const out = y.data() + r * columns, *const dy = y.gradient_data() + r * columns;
      real mean_dy = 0, mean_dy_y = 0;  // over the row
      for (size_t j = 0; j < columns; ++j) {
        mean_dy += dy[j] / count;
        mean_dy_y += dy[j] * out[j] / count;
      }
      for (size_t j = 0; j < columns; ++j) {
        // [
        dx[r * columns + j] = (dy[j] - mean_dy - out[j] * mean_dy_y) / deviation[r];
        // | dx[r * columns + j] = (dy[j] - mean_dy) / deviation[r];
        // ]
        // mistake: your d(x) has the term of the deviation with the wrong sign
        // ~ dx[r * columns + j] = (dy[j] - mean_dy + out[j] * mean_dy_y) / deviation[r];
        // mistake: your d(x) has the term of the deviation without its factor y
        // ~ dx[r * columns + j] = (dy[j] - mean_dy - mean_dy_y) / deviation[r];
        // mistake: your d(x) takes the mean for a constant now
        // ~ dx[r * columns + j] = (dy[j] - out[j] * mean_dy_y) / deviation[r];
      }
    }
    contribute(x, [from = dx.data()](size_t i) { return from[i]; });
  });
}
