#pragma once
// A pass over the rows of a tensor that adds something up over all of them: the backward passes of layers that treat
// every row alike, whose parameters (a gain, a bias) take part in each.
//
// Every share of the rows has sums of its own (row_sums.h), so no two threads write to the same place; they are added
// in the order of the shares.

#include "core/math/sum.h"
#include "core/ops/map.h"
#include "core/tensor.h"
#include "core/threads/parallel.h"
#include "layers/statistics/row_sums.h"

namespace lamina {

/// For parallel_for: how many rows are worth a share, where each number costs a few passes.
constexpr size_t row_grain(size_t columns) { return grain_of(columns, elementwise_grain / 4); }

/// Throw Error naming the op and the shapes for rows without a number, and for a parameter, the "gain", that has not one for
/// each number of a row.
inline void require_features(const char* op, const Tensor& a) {
  if (a.shape().rank() == 0 || a.columns() == 0)
    fail(op, ": ", a.shape(), " has no features in its last axis");
}
inline void require_features(const char* op, const Tensor& a, const Tensor& parameter, const char* which) {
  if (parameter.shape() != Shape{a.columns()})
    fail(op, ": the ", which, " is ", parameter.shape(), ", the input ", a.shape(), "; it must be [",
         a.columns(), "]");
}

class SummedRows {
 public:
  /// row(r, sums) for each row r of [rows x columns]; it adds what the row contributes to sums [width].
  template <class Row>
  SummedRows(size_t rows, size_t columns, size_t width, const Row& row) : width_(width) {
    const size_t shares = shares_of(rows, row_grain(columns)),
                 levels = RowSums::levels(rows / std::max<size_t>(shares, 1) + 1);
    partial_ = Tensor::zeros({shares * levels, width});
    for_each_share(shares, [&, memory = partial_.data()](size_t share) {
      const Range range = part_of(rows, share, shares);
      RowSums sums(memory + share * levels * width, width, levels);
      for (size_t r = range.begin; r < range.end; ++r) {
        row(r, sums.running());
        sums.end_row();
      }
    });
  }

  /// Adds the sums from number `first` on to the gradient of a parameter, one to each of its elements.
  void contribute_to(const Tensor& parameter, size_t first) const {
    contribute_summed_rows(
        parameter, partial_.rows(),
        [=, this, sums = partial_.data()](size_t part, size_t c) { return sums[part * width_ + first + c]; });
  }

  /// Adds the total of `count` sums from number `first` on to the gradient of a parameter with a single element.
  void contribute_total_to(const Tensor& parameter, size_t first, size_t count) const {
    contribute_summed_rows(
        parameter, partial_.rows(), [=, this, sums = partial_.data()](size_t part, size_t) {
          return sum_over(count, [=, own = sums + part * width_ + first](size_t c) { return own[c]; });
        });
  }

 private:
  size_t width_;
  Tensor partial_;  ///< rows that together are the sums
};

}  // namespace lamina
