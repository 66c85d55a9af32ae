#include "layers/statistics/rank_statistics.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/distributed/group.h"

namespace lamina::column_norm {

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

}  // namespace lamina::column_norm
