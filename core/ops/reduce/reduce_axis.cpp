#include "core/ops/reduce/reduce_axis.h"

#include <algorithm>
#include <limits>

#include "core/math/sum.h"
#include "core/memory/cached_vector.h"
#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce/axis.h"

namespace lamina {

namespace {

/// dL/dx[i] += value(i, j), j being the element of the result that x[i] went into.
template <class Value>
void contribute_along(const Tensor& x, int axis, const Value& value) {
  const GradientSink sink = x.gradient_sink();
  const Broadcast pairs("sum", x.shape(), x.shape().with(axis, 1));
  for_each_position(pairs, [=, dx = sink.values](size_t i, size_t, size_t j) {
    dx[i] = (sink.add ? dx[i] : 0) + value(i, j);
  });
}

}  // namespace

/// y_oi = sum_k x_oki;  dx_oki = dy_oi
Tensor sum(const Tensor& x, int axis, const AxisOptions& options) {
  require_values("sum", x);
  const AxisView view("sum", x.shape(), axis);
  Tensor y(reduced(x.shape(), axis, options));
  sum_along(view, x.data(), y.data(), false);
  return record("sum", y, {x}, [=] {
    contribute_along(x, axis, [dy = y.gradient_data()](size_t, size_t j) { return dy[j]; });
  });
}

Tensor mean(const Tensor& x, int axis, const AxisOptions& options) {
  const AxisView view = view_with_some("mean", x, axis);
  return sum(x, axis, options) / static_cast<real>(view.along);
}

namespace {

/// Mean and variance of numbers whose deviations d from a rounded mean are summed up: the rounding error of
/// the mean is the mean of d.
struct Moments {
  real mean, variance;
  Moments(real rounded, TwoSums sums, real count) : mean(rounded + sums.first / count), variance(0) {
    const real found = (sums.second - sums.first * (sums.first / count)) / count;
    variance = found < 0 ? 0 : found;
  }
};

void find_moments(const AxisView& view, const real* x, real* means, real* variances) {
  const size_t along = view.along, inner = view.inner;
  const auto count = static_cast<real>(along);
  for_each_columns(view, [=](size_t o, size_t begin, size_t end) {
    const real* const matrix = x + o * along * inner;
    real *const mean = means + o * inner, *const variance = variances + o * inner;
    const auto set = [=](size_t c, real rounded, TwoSums sums) {
      const Moments found(rounded, sums, count);
      mean[c] = found.mean;
      variance[c] = found.variance;
    };
    if (inner == 1) {
      const real rounded = sum_over(along, [=](size_t k) { return matrix[k]; }) / count;
      const auto d = [=](size_t k) { return matrix[k] - rounded; };
      return set(0, rounded, two_sums_over(along, d, [=](size_t k) { return d(k) * d(k); }));
    }
    real rounded[columns_together], first[columns_together], second[columns_together];
    const size_t width = end - begin;
    const auto values = [=](size_t k) { return matrix + k * inner + begin; };
    column_sums(along, 0, width, rounded,
                [=](size_t k) { return [row = values(k)](size_t c) { return row[c]; }; });
    for (size_t c = 0; c < width; ++c) rounded[c] /= count;
    two_column_sums(along, 0, width, first, second, [&](size_t k) {
      return [row = values(k), from = rounded](size_t c) {
        const real d = row[c] - from[c];
        return TwoSums{d, d * d};
      };
    });
    for (size_t c = 0; c < width; ++c) set(begin + c, rounded[c], {first[c], second[c]});
  });
}

}  // namespace

/// y = 1/n sum_k (x_k - m)^2, m = 1/n sum_k x_k;  dx_k = 2/n (x_k - m) dy
Tensor variance(const Tensor& x, int axis, const AxisOptions& options) {
  const AxisView view = view_with_some("variance", x, axis);
  Tensor y(reduced(x.shape(), axis, options)), means(y.shape());
  find_moments(view, x.data(), means.data(), y.data());
  return record("variance", y, {x}, [=] {
    const real share = 2 / static_cast<real>(view.along);
    contribute_along(x, axis,
                     [=, in = x.data(), m = means.data(), dy = y.gradient_data()](size_t i, size_t j) {
                       return share * (in[i] - m[j]) * dy[j];
                     });
  });
}

Tensor composed::variance(const Tensor& x, int axis, const AxisOptions& options) {
  return mean(square(x - mean(x, axis, {.keep = true})), axis, options);
}

namespace {

/// Where the first of the largest of sign x_k is in a row, or the first NaN.
template <int sign>
int first_largest(const real* x, size_t count) {
  real most = sign * x[0];
  int unordered = 0;
#pragma omp simd reduction(max : most) reduction(| : unordered)
  for (size_t k = 0; k < count; ++k) {
    const real v = sign * x[k];
    most = v > most ? v : most;
    unordered |= v != v;
  }
  const auto size = static_cast<int>(count);
  int first = size;
  if (unordered != 0) {
    for (first = 0; x[first] == x[first];) ++first;
    return first;
  }
#pragma omp simd reduction(min : first)
  for (int k = 0; k < size; ++k) {
    const int found = sign * x[k] == most ? k : size;
    first = found < first ? found : first;
  }
  return first == size ? 0 : first;  // all -infinity: the reductions of some compilers start above that
}

/// The same for columns of a matrix whose rows are `stride` long, all at once.
template <int sign>
void first_largest_of_columns(const real* x, size_t count, size_t stride, size_t width, int* index) {
  real most[columns_together];
  for (size_t c = 0; c < width; ++c) most[c] = sign * x[c];
  std::fill_n(index, width, 0);
  for (size_t k = 1; k < count; ++k) {
    const real* const row = x + k * stride;
    const auto here = static_cast<int>(k);
#pragma omp simd
    for (size_t c = 0; c < width; ++c) {
      const real v = sign * row[c];
      const bool better = !(v <= most[c]) && most[c] == most[c];  // a NaN is better than any number
      most[c] = better ? v : most[c];
      index[c] = better ? here : index[c];
    }
  }
}

/// The view, and Error when an int cannot count the elements along the axis.
AxisView countable_view(const char* op, const Tensor& x, int axis) {
  const AxisView view = view_with_some(op, x, axis);
  constexpr int most = std::numeric_limits<int>::max();
  if (view.along > static_cast<size_t>(most))
    fail(op, ": ", x.shape(), " has more than ", most, " elements along axis ", axis,
         ", which an int cannot count; reduce it in parts");
  return view;
}

template <int sign>
void find_first_largest(const AxisView& view, const real* x, int* index) {
  const size_t along = view.along, inner = view.inner;
  for_each_columns(view, [=](size_t o, size_t begin, size_t end) {
    const real* const matrix = x + o * along * inner;
    if (inner == 1)
      index[o] = first_largest<sign>(matrix, along);
    else
      first_largest_of_columns<sign>(matrix + begin, along, inner, end - begin, index + o * inner + begin);
  });
}

/// y_oi = x_oki at the first k where sign x_oki is largest;  dx_oki = dy_oi there, 0 elsewhere
template <int sign>
Tensor extreme(const char* op, const Tensor& x, int axis, const AxisOptions& options) {
  const AxisView view = countable_view(op, x, axis);
  Tensor result(reduced(x.shape(), axis, options));
  CachedVector<int> index(result.size());
  find_first_largest<sign>(view, x.data(), index.data());
  const auto place = [along = view.along, inner = view.inner](size_t j, int k) {
    return (j / inner * along + static_cast<size_t>(k)) * inner + j % inner;
  };
  for (size_t j = 0; j < index.size(); ++j) result[j] = x[place(j, index[j])];
  const Tensor y = result;
  return record(op, y, {x}, [x, y, place, kept = std::move(index)] {
    const GradientSink sink = x.gradient_sink();
    if (!sink.add) for_each_index(x.size(), [to = sink.values](size_t i) { to[i] = 0; });
    const real* const dy = y.gradient_data();
    for (size_t j = 0; j < kept.size(); ++j) sink.values[place(j, kept[j])] += dy[j];
  });
}

}  // namespace

Tensor max(const Tensor& x, int axis, const AxisOptions& options) {
  return extreme<1>("max", x, axis, options);
}
Tensor min(const Tensor& x, int axis, const AxisOptions& options) {
  return extreme<-1>("min", x, axis, options);
}

std::vector<int> argmax(const Tensor& x, int axis) {
  const AxisView view = countable_view("argmax", x, axis);
  std::vector<int> index(view.outer * view.inner);
  find_first_largest<1>(view, x.data(), index.data());
  return index;
}

}  // namespace lamina
