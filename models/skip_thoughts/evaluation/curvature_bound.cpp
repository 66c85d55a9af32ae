#include "models/skip_thoughts/evaluation/curvature_bound.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/gemm/blas_thread.h"
#include "core/ops/matmul.h"

// LAPACK, which OpenBLAS contains: the Cholesky factor of a positive definite matrix, and from it the inverse.
// NOLINTBEGIN(readability-identifier-naming): LAPACK's own names
extern "C" void dpotrf_(const char* half, const int* n, double* a, const int* stride, int* info);
extern "C" void dpotri_(const char* half, const int* n, double* a, const int* stride, int* info);
// NOLINTEND(readability-identifier-naming)

namespace lamina::skip_thoughts {

namespace {

/// X^T X / cases, with a column of ones behind x for the bias.
Tensor mean_of_squares(const Tensor& x) {
  const size_t cases = x.rows(), width = x.columns() + 1;
  const Tensor products = matmul(x, x, {.a = Transpose::yes});
  for (size_t i = 0; i < x.columns(); ++i)
    if (!std::isfinite(products[i * x.columns() + i]))
      fail("evaluation: feature ", i,
           " is not finite in some case; was the encoder trained until it diverged?");
  Tensor square({width, width});
  const double share = 1 / static_cast<double>(cases);
  std::vector<double> sums(x.columns());
  for (size_t row = 0; row < cases; ++row)
    for (size_t i = 0; i < x.columns(); ++i) sums[i] += static_cast<double>(x[row * x.columns() + i]);
  for (size_t i = 0; i + 1 < width; ++i) {
    for (size_t j = 0; j + 1 < width; ++j)
      square[i * width + j] = products[i * x.columns() + j] * static_cast<real>(share);
    square[i * width + width - 1] = square[(width - 1) * width + i] = static_cast<real>(sums[i] * share);
  }
  square[width * width - 1] = 1;
  return square;
}

/// (factor square + penalty on all but the last)^-1
Tensor inverse_of(const Tensor& square, double factor, double penalty) {
  const size_t width = square.columns();
  std::vector<double> a(square.size());
  for (size_t i = 0; i < a.size(); ++i) a[i] = factor * static_cast<double>(square[i]);
  for (size_t i = 0; i + 1 < width; ++i) a[i * width + i] += penalty;
  const product_kernels::OnThisThread one;  // the result shall not depend on the number of threads
  const int n = static_cast<int>(width);
  int info = 0;
  dpotrf_("U", &n, a.data(), &n, &info);
  if (info == 0) dpotri_("U", &n, a.data(), &n, &info);
  if (info != 0) fail("evaluation: the features' squares have no Cholesky factor; LAPACK says ", info);
  Tensor inverse({width, width});
  for (size_t i = 0; i < width; ++i)  // LAPACK stores by columns, so its upper half is the lower one of rows
    for (size_t j = 0; j <= i; ++j)
      inverse[i * width + j] = inverse[j * width + i] = static_cast<real>(a[i * width + j]);
  return inverse;
}

}  // namespace

InverseCurvature::InverseCurvature(const Tensor& x, size_t classes, double C)
    : classes_(classes), width_(x.columns() + 1) {
  const Tensor square = mean_of_squares(x);
  const double penalty = 1 / (C * static_cast<double>(x.rows()));
  along_ = inverse_of(square, 1 / (2 * static_cast<double>(classes)), penalty);
  if (classes > 2) across_ = inverse_of(square, 0.5, penalty);
}

void InverseCurvature::operator()(std::span<real> weights) const {
  const size_t rows = classes_ - 1;
  std::vector<real> mean(width_), deviations(weights.begin(), weights.end()), result(width_);
  for (size_t i = 0; i < width_; ++i) {
    for (size_t k = 0; k < rows; ++k) mean[i] += weights[k * width_ + i] / static_cast<real>(rows);
    for (size_t k = 0; k < rows; ++k) deviations[k * width_ + i] -= mean[i];
  }
  gemm(1, width_, width_, mean.data(), width_, along_.data(), width_, result.data(), width_);
  if (rows > 1)
    gemm(rows, width_, width_, deviations.data(), width_, across_.data(), width_, weights.data(), width_);
  else
    std::ranges::fill(weights, real{0});
  for (size_t k = 0; k < rows; ++k)
    for (size_t i = 0; i < width_; ++i) weights[k * width_ + i] += result[i];
}

}  // namespace lamina::skip_thoughts
