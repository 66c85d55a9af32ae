#include <lamina/extend.h>

#include "exercises.h"
using namespace lamina;

/// y = a b, element by element;  da = dy b, db = dy a
///
/// One line of the backward pass is wrong. A plain check of gate(a, b) finds nothing.
Tensor gate(const Tensor& a, const Tensor& b) {
  const Tensor y = generate(a.shape(), [p = a.data(), q = b.data()](size_t i) { return p[i] * q[i]; });
  return record("gate", y, {a, b}, [=] {
    const real* const dy = y.gradient_data();
    if (a.needs_gradient()) {
      const GradientSink da = a.gradient_sink();  // da.add: other ops have contributed to da before
      for (size_t i = 0; i < a.size(); ++i) da.values[i] = (da.add ? da.values[i] : 0) + dy[i] * b.data()[i];
    }
    if (b.needs_gradient()) {
      const GradientSink db = b.gradient_sink();
      // [
      for (size_t i = 0; i < b.size(); ++i) db.values[i] = (db.add ? db.values[i] : 0) + dy[i] * a.data()[i];
      // | for (size_t i = 0; i < b.size(); ++i) db.values[i] = dy[i] * a.data()[i];
      // ]
    }
  });
}
