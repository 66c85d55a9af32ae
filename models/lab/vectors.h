#pragma once
// Rows and columns of a matrix as vectors of doubles, for the measuring of labs.

#include <cstddef>
#include <numeric>
#include <vector>

#include "core/tensor.h"

namespace lamina::lab {

using Vector = std::vector<double>;

inline Vector row_of(const Tensor& a, size_t r) {
  Vector row(a.columns());
  for (size_t c = 0; c < row.size(); ++c) row[c] = static_cast<double>(a.at(r, c));
  return row;
}

inline Vector column_of(const Tensor& a, size_t c) {
  Vector column(a.rows());
  for (size_t r = 0; r < column.size(); ++r) column[r] = static_cast<double>(a.at(r, c));
  return column;
}

inline double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace lamina::lab
