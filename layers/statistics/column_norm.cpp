#include "layers/statistics/column_norm.h"

#include <limits>
#include <vector>

#include "core/distributed/group.h"
#include "core/ops/map.h"

namespace lamina::column_norm {

namespace {

/// Columns are processed in blocks that stay in L1 for all passes over the cases. Threads divide the work by
/// blocks, so every sum has a fixed order.
template <class Body>
void for_each_block(size_t rows, size_t columns, const Body& body) {
  constexpr size_t block = 64;
  parallel_for(
      columns, grain_of(rows, elementwise_grain / 4),
      [&](size_t begin, size_t end) {
        for (size_t c = begin; c < end; c += block) body(c, std::min(c + block, end));
      },
      block);
}

}  // namespace

Tensor normalize(const Scheme& scheme, const Tensor& a, const Tensor& gain, const Tensor& bias, Tensor mean,
                 Tensor variance) {
  const size_t rows = a.rows(), columns = a.columns();
  const Cases cases = cases_of(a, scheme.mask);
  const bool over_ranks = scheme.cases_of_ranks > 0;
  const real count = over_ranks ? scheme.cases_of_ranks : static_cast<real>(cases.count());
  constexpr real infinity = std::numeric_limits<real>::infinity();
  const Divisors by = scheme.given ? Divisors{infinity, infinity} : Divisors{count, count - scheme.lost};
  const Tensor offset = bias.defined() ? bias : Tensor::zeros({columns});
  Tensor y = scheme.into.defined() ? scheme.into : Tensor(a.shape());
  Tensor kept({2, columns});  // mean and inverse deviation; the caller may write to its own mean
  for_each_block(rows, columns,
                 [=, known = scheme.given || scheme.measured, epsilon = scheme.epsilon, mu = mean.data(),
                  var = variance.data(), k = kept.data(), inv = kept.data() + columns, g = gain.data(),
                  b = offset.data(), out = y.data_unwatched()](size_t begin, size_t end) {
                   if (!known) moments(cases, by.degrees, begin, end, mu, var);
                   std::copy(mu + begin, mu + end, k + begin);
                   invert(var, epsilon, begin, end, inv);
                   for (size_t r = 0; r < rows; ++r)
                     if (real* const row = out + r * columns; cases.counts(r))
                       apply(cases.values + r * columns, {mu, inv}, g, b, begin, end, row);
                     else
                       std::fill(row + begin, row + end, real{0});
                 });

  return record({scheme.op, OpKind::norm}, y, {a, gain, bias, scheme.mask}, [=, mask = scheme.mask] {
    Tensor sums = Tensor::zeros({2, columns});
    real *const dbias = sums.data(), *const dgain = dbias + columns;
    const Cases x = cases_of(a, mask);
    const real *const dy = y.gradient_data(), *const g = gain.data();
    const Statistics s{kept.data(), kept.data() + columns};
    const GradientSink sink = a.needs_gradient() ? a.gradient_sink() : GradientSink{nullptr, false};
    if (over_ranks) {
      for_each_block(rows, columns, [=](size_t begin, size_t end) {
        sum_derivatives(x, dy, s, begin, end, dbias + begin, dgain + begin);
      });
      Tensor means = sums.copy();
      sum_ranks(means.values());
      real *const level = means.data(), *const along = level + columns;
      for (size_t c = 0; c < columns; ++c) level[c] /= by.cases, along[c] /= by.degrees;
      for_each_block(rows, columns, [=](size_t begin, size_t end) {
        subtract_means(x, dy, s, g, begin, end, level + begin, along + begin, sink);
      });
    } else {
      for_each_block(rows, columns, [=](size_t begin, size_t end) {
        backward(x, dy, s, g, by, begin, end, sink, dgain, dbias);
      });
    }
    contribute(gain, [=](size_t c) { return dgain[c]; });
    contribute(bias, [=](size_t c) { return dbias[c]; });
  });
}

void measure(const Tensor& a, const Tensor& mask, real lost, Tensor mean, Tensor variance) {
  const Cases cases = cases_of(a, mask);
  for_each_block(
      cases.rows, cases.width,
      [=, degrees = static_cast<real>(cases.count()) - lost, mu = mean.data(), var = variance.data()](
          size_t begin, size_t end) { moments(cases, degrees, begin, end, mu, var); });
}

real merge_ranks(size_t cases, real lost, std::span<real> mean, std::span<real> variance) {
  const size_t columns = mean.size();
  const auto own = static_cast<double>(cases);
  std::vector<double> sums(columns + 1);
  for (size_t c = 0; c < columns && cases > 0; ++c) sums[c] = own * static_cast<double>(mean[c]);
  sums.back() = own;
  distributed::group().sum(std::span(sums));
  const double all = sums.back();
  if (all == 0) {
    std::ranges::fill(mean, real{0});
    std::ranges::fill(variance, std::numeric_limits<real>::infinity());
    return 0;
  }
  std::vector<double> squares(columns);
  for (size_t c = 0; c < columns; ++c) {
    const double distance = static_cast<double>(mean[c]) - sums[c] / all;
    if (cases > 0) squares[c] = own * (static_cast<double>(variance[c]) + distance * distance);
    mean[c] = static_cast<real>(sums[c] / all);
  }
  distributed::group().sum(std::span(squares));
  for (size_t c = 0; c < columns; ++c)
    variance[c] = static_cast<real>(squares[c] / (all - static_cast<double>(lost)));
  return static_cast<real>(all);
}

void sum_ranks(std::span<real> values) {
  std::vector<double> sums(values.begin(), values.end());
  distributed::group().sum(std::span(sums));
  std::ranges::transform(sums, values.begin(), [](double sum) { return static_cast<real>(sum); });
}

real measure_over_ranks(const Tensor& a, const Tensor& mask, real lost, Tensor mean, Tensor variance) {
  measure(a, mask, 0, mean, variance);
  return merge_ranks(cases_of(a, mask).count(), lost, mean.values(), variance.values());
}

}  // namespace lamina::column_norm
