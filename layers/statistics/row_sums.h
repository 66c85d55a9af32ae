#pragma once
// A pass over the rows of a tensor that adds something up over all of them: the backward passes of layers that treat
// every row alike, whose parameters (a gain, a bias) take part in each.
//
// Every share of the rows has sums of its own, so no two threads write to the same place; they are added in the order
// of the shares, and within a share pairwise (core/math/sum.h), so that many rows cost no accuracy.

#include "core/math/sum.h"
#include "core/ops/map.h"
#include "core/tensor.h"
#include "core/threads/parallel.h"

namespace lamina {

/// For parallel_for: how many rows are worth a share, where each number costs a few passes.
constexpr size_t row_grain(size_t columns) { return grain_of(columns, elementwise_grain / 4); }

class RowSums {
 public:
  /// row(r, sums) for each row r of [rows x columns]; it adds what the row contributes to sums [width].
  template <class Row>
  RowSums(size_t rows, size_t columns, size_t width, const Row& row)
      : width_(width),
        shares_(shares_of(rows, row_grain(columns))),
        partial_(Tensor::zeros({shares_, width})) {
    for_each_share(shares_, [&, sums = partial_.data()](size_t share) {
      const Range range = part_of(rows, share, shares_);
      add_rows(range.begin, range.end, row, sums + share * width_);
    });
  }

  /// Adds the sums from number `first` on to the gradient of a parameter, one to each of its elements.
  void contribute_to(const Tensor& parameter, size_t first) const {
    contribute_summed_rows(parameter, shares_, [=, this, sums = partial_.data()](size_t share, size_t c) {
      return sums[share * width_ + first + c];
    });
  }

  /// Adds the total of `count` sums from number `first` on to the gradient of a parameter with a single element.
  void contribute_total_to(const Tensor& parameter, size_t first, size_t count) const {
    contribute_summed_rows(parameter, shares_, [=, this, sums = partial_.data()](size_t share, size_t) {
      return sum_over(count, [=, own = sums + share * width_ + first](size_t c) { return own[c]; });
    });
  }

 private:
  template <class Row>
  void add_rows(size_t begin, size_t end, const Row& row, real* sums) const {
    constexpr size_t rows_in_sequence = 256;
    if (end - begin > rows_in_sequence) {
      const size_t middle = begin + (end - begin) / 2;
      Tensor below = Tensor::zeros({width_});
      real* const rest = below.data();
      add_rows(begin, middle, row, sums);
      add_rows(middle, end, row, rest);
#pragma omp simd
      for (size_t c = 0; c < width_; ++c) sums[c] += rest[c];
      return;
    }
    for (size_t r = begin; r < end; ++r) row(r, sums);
  }

  size_t width_, shares_;
  Tensor partial_;
};

}  // namespace lamina
