#pragma once
// A classifier's input: a matrix of features, dense or sparse, of which it needs two products.

#include <memory>
#include <utility>
#include <vector>

#include "core/math/sum.h"
#include "core/tensor.h"

namespace lamina::skip_thoughts {

class Features {
 public:
  virtual ~Features() = default;
  virtual size_t rows() const = 0;
  virtual size_t columns() const = 0;
  /// x_row . w
  virtual real dot(size_t row, const real* w) const = 0;
  /// w += factor x_row
  virtual void add(size_t row, real factor, real* w) const = 0;
  /// Row number `row` is needed next: begins to bring it into the cache.
  virtual void expect(size_t /*row*/) const {}
  /// All of it [rows x columns], where it is stored so; else nullptr.
  virtual const Tensor* matrix() const { return nullptr; }
};

/// A tensor [rows x columns].
class DenseFeatures final : public Features {
 public:
  explicit DenseFeatures(Tensor values) : values_(std::move(values)) {}
  size_t rows() const override { return values_.rows(); }
  size_t columns() const override { return values_.columns(); }
  real dot(size_t row, const real* w) const override {
    return sum_over(columns(), [w, x = values_.data() + row * columns()](size_t i) { return x[i] * w[i]; });
  }
  void add(size_t row, real factor, real* w) const override {
    const real* const x = values_.data() + row * columns();
#pragma omp simd
    for (size_t i = 0; i < columns(); ++i) w[i] += factor * x[i];
  }
  void expect(size_t row) const override {
    constexpr size_t line = 64 / sizeof(real);
    const real* const x = values_.data() + row * columns();
    for (size_t i = 0; i < columns(); i += line) __builtin_prefetch(x + i);
  }
  const Tensor* matrix() const override { return &values_; }

 private:
  Tensor values_;
};

/// Rows in which most numbers are zero.
class SparseFeatures final : public Features {
 public:
  using Row = std::vector<std::pair<int, real>>;  ///< columns with their values

  SparseFeatures(std::vector<Row> rows, size_t columns) : rows_(std::move(rows)), columns_(columns) {}
  size_t rows() const override { return rows_.size(); }
  size_t columns() const override { return columns_; }
  real dot(size_t row, const real* w) const override {
    real total = 0;
    for (const auto& [column, value] : rows_[row]) total += value * w[column];
    return total;
  }
  void add(size_t row, real factor, real* w) const override {
    for (const auto& [column, value] : rows_[row]) w[column] += factor * value;
  }

 private:
  std::vector<Row> rows_;
  size_t columns_;
};

}  // namespace lamina::skip_thoughts
