#include "layers/statistics/column_norm.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// The moments of column c in long double.
std::pair<long double, long double> exact_moments(const Tensor& x, size_t c) {
  const size_t rows = x.rows(), columns = x.columns();
  const auto at = [&](size_t r) { return static_cast<long double>(x[r * columns + c]); };
  const auto count = static_cast<long double>(rows);
  long double mean = 0, variance = 0;
  for (size_t r = 0; r < rows; ++r) mean += at(r) / count;
  for (size_t r = 0; r < rows; ++r) variance += (at(r) - mean) * (at(r) - mean) / count;
  return {mean, variance};
}

}  // namespace

TEST_CASE("column moments: far from zero the variance keeps its digits, and a mean near zero its own") {
  const std::vector<double> centers = {0, 100, 1e5};
  for (const double center : centers)
    for (const size_t rows : {7u, 38u, 300u}) {
      CAPTURE(center);
      CAPTURE(rows);
      const size_t columns = 70;
      const Tensor x = sample({rows, columns}, 5, center - 2, center + 2);
      Tensor mean({columns}), variance({columns});
      column_norm::moments({.rows = rows, .width = columns, .values = x.data()}, static_cast<real>(rows), 0,
                           columns, mean.data(), variance.data());
      for (size_t c = 0; c < columns; ++c) {
        const auto [true_mean, true_variance] = exact_moments(x, c);
        const auto off = [](real ours, long double exact) {
          return static_cast<double>(std::abs(static_cast<long double>(ours) - exact));
        };
        // Half a unit for the result, and the sum's own roundings, whose terms are of the size of the spread.
        CHECK(off(mean[c], true_mean) < ulp * (0.5 * std::abs(static_cast<double>(true_mean)) + 0.75));
        CHECK(off(variance[c], true_variance) < 4 * ulp * static_cast<double>(true_variance));
      }
    }
}

TEST_CASE("column moments: the variance is never negative") {
  // Two adjacent numbers, also on both sides of a power of two, where the mean has fewer digits than they
  // have.
  for (const double center : {1.0, 3.7, 1024.0, 65536.0, 1e30})
    for (size_t rows = 1; rows < 3000; rows += rows / 8 + 1)
      for (size_t below = 1; below < 4; ++below) {
        const auto upper = static_cast<real>(center);
        const real lower = std::nextafter(upper, real{0});
        Tensor x = Tensor::full({rows, 1}, upper);
        for (size_t r = rows * below / 4; r < rows; ++r) x[r] = lower;
        real mean = 0, variance = 0;
        column_norm::moments({.rows = rows, .width = 1, .values = x.data()}, static_cast<real>(rows), 0, 1,
                             &mean, &variance);
        CHECK(variance >= 0);
        CHECK(mean <= upper);
        CHECK(mean >= lower);
      }
}

TEST_CASE("column moments: where they leave the range of real") {
  const auto moments = [](std::initializer_list<double> values) {
    Tensor x({values.size(), 1});
    std::ranges::transform(values, x.data(), [](double value) { return static_cast<real>(value); });
    std::pair<real, real> found;
    column_norm::moments({.rows = x.rows(), .width = 1, .values = x.data()}, static_cast<real>(x.rows()), 0,
                         1, &found.first, &found.second);
    return found;
  };
  const auto most = static_cast<double>(std::numeric_limits<real>::max());
  CHECK(moments({most, most, most}) == std::pair(static_cast<real>(most), real{0}));
  CHECK(moments({-most, -most}) == std::pair(static_cast<real>(-most), real{0}));
  const double huge = std::sqrt(most) * 4;  // its square overflows
  CHECK(std::isinf(moments({huge, -huge}).second));
  CHECK(std::isnan(moments({most, -most, most}).second));
}
