#pragma once
// Helpers for writing elementwise ops: values and gradients, element by element.

#include "core/math/sum.h"
#include "core/tape.h"
#include "core/tensor.h"
#include "core/threads/parallel.h"

namespace lamina {

/// A new tensor with element i = value(i).
template <class Value>
Tensor generate(const Shape& shape, const Value& value) {
  Tensor result(shape);
  real* const y = result.data();
  for_each_index(result.size(), [=](size_t i) { y[i] = value(i); });
  return result;
}

/// dL/dx[i] += value(i), if x needs a gradient.
template <class Value>
void contribute(const Tensor& x, const Value& value) {
  if (!x.needs_gradient()) return;
  const GradientSink sink = x.gradient_sink();
  real* const dx = sink.values;
  if (sink.add)
    for_each_index(x.size(), [=](size_t i) { dx[i] += value(i); });
  else
    for_each_index(x.size(), [=](size_t i) { dx[i] = value(i); });
}

/// For a row vector b that every row read: dL/db[c] += sum over rows r of value(r, c), if b needs a gradient.
/// Pairwise, so many rows cost no accuracy. Threads take columns, so the order of each sum is fixed.
template <class Value>
void contribute_summed_rows(const Tensor& b, size_t rows, const Value& value) {
  if (!b.needs_gradient()) return;
  const GradientSink sink = b.gradient_sink();
  parallel_for(
      b.size(), grain_of(rows),
      [=, db = sink.values](size_t begin, size_t end) {
        const auto row = [&](size_t r) { return [&, r](size_t c) { return value(r, c); }; };
        if (sink.add)
          add_column_sums(rows, begin, end, db, row);
        else
          column_sums(rows, begin, end, db, row);
      },
      16);
}

}  // namespace lamina
