// c += a b. The three loops are right; their order is not.
#include "exercises.h"

void multiply(Matrix& c, Matrix& a, Matrix& b) {
  // [ your code: another order of the loops
  for (size_t i = 0; i < a.rows(); ++i)
    for (size_t k = 0; k < b.rows(); ++k)
      for (size_t j = 0; j < b.columns(); ++j) c(i, j) += a(i, k) * b(k, j);
  // | for (size_t i = 0; i < a.rows(); ++i)
  // |   for (size_t j = 0; j < b.columns(); ++j)
  // |     for (size_t k = 0; k < b.rows(); ++k) c(i, j) += a(i, k) * b(k, j);
  // ]
  // mistake: your innermost loop runs down columns of a and c: even more misses
  // ~ for (size_t j = 0; j < b.columns(); ++j)
  // ~   for (size_t k = 0; k < b.rows(); ++k)
  // ~     for (size_t i = 0; i < a.rows(); ++i) c(i, j) += a(i, k) * b(k, j);
  // mistake: your c is right for square matrices, not for a [3 x 5] and b [5 x 4]
  // ~ for (size_t i = 0; i < a.rows(); ++i)
  // ~   for (size_t k = 0; k < a.rows(); ++k)
  // ~     for (size_t j = 0; j < b.columns(); ++j) c(i, j) += a(i, k) * b(k, j);
  // mistake: your loops ask for element (0, 48) of a matrix [48 x 48]
  // ~ for (size_t i = 0; i < a.rows(); ++i)
  // ~   for (size_t k = 0; k < b.rows(); ++k)
  // ~     for (size_t j = 0; j <= b.columns(); ++j) c(i, j) += a(i, k) * b(k, j);
  // mistake: your c is the product alone: it must be added to what c was
  // ~ for (size_t i = 0; i < a.rows(); ++i)
  // ~   for (size_t j = 0; j < b.columns(); ++j) c(i, j) = 0;
  // ~ for (size_t i = 0; i < a.rows(); ++i)
  // ~   for (size_t k = 0; k < b.rows(); ++k)
  // ~     for (size_t j = 0; j < b.columns(); ++j) c(i, j) += a(i, k) * b(k, j);
}
