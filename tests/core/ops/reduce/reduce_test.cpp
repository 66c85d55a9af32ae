// Sums and means over everything, over columns and over rows.

#include "core/ops/reduce/reduce.h"

#include "core/math/sum.h"
#include "core/threads/parallel.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("reductions: values") {
  const Tensor x = Tensor::from({2, 3}, {1, 2, 3, 4, 5, 9});
  CHECK(sum(x).item() == 24);
  CHECK(mean(x).item() == 4);
  CHECK(mean_square(x).item() == doctest::Approx(136 / 6.0));
  CHECK(difference(sum_columns(x), {6, 18}) == 0);
  CHECK(sum_columns(x).shape() == Shape{2, 1});
  CHECK(difference(mean_columns(x), {2, 6}) <= ulp);
  CHECK(difference(sum_rows(x), {5, 7, 12}) == 0);
  CHECK(sum_rows(x).shape() == Shape{3});
  CHECK(difference(mean_rows(x), {2.5, 3.5, 6}) == 0);
}

TEST_CASE("reductions: gradients") {
  const auto reductions = {sum, mean, mean_square, sum_columns, mean_columns, sum_rows, mean_rows};
  std::vector<Shape> shapes = odd_shapes;
  shapes.insert(shapes.end(), {Shape{5}, Shape{2, 3, 4}, Shape{1, 2, 1, 3}});
  for (const Shape& shape : shapes)
    for (const auto reduce : reductions) {
      const Tensor x = sample(shape, 1);
      check_gradients({x}, [&] { return weighted(square(reduce(x))); });
    }
  const Tensor scalar = sample({}, 1);
  check_gradients({scalar}, [&] { return sum(scalar) * mean(scalar); });
}

TEST_CASE("mean_square: equals the mean of squares") {
  for (const Shape& shape : odd_shapes) {
    const Tensor x = sample(shape, 1);
    check_twins([](const auto& in) { return mean_square(in[0]); },
                [](const auto& in) { return composed::mean_square(in[0]); }, {x}, twin_tolerance(16));
  }
}

TEST_CASE("sums over many elements do not depend on the number of threads") {
  const Tensor x = sample({3 * 40000 + 7}, 1);
  const Tensor total = sum(x), square = mean_square(x);
  real expected = 0;
  for (const real value : x.values()) expected += value;
  CHECK(total.item() == doctest::Approx(expected).epsilon(1e-3));
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    CHECK(identical(sum(x), total));
    CHECK(identical(mean_square(x), square));
  }
  set_threads(0);
}

TEST_CASE("reductions: higher ranks count all axes but the last as rows") {
  const Tensor x = sample({2, 3, 4}, 1);
  CHECK(sum_columns(x).shape() == Shape{2, 3, 1});
  CHECK(identical(sum_rows(x), sum_rows(x.reshape({6, 4}))));
}

TEST_CASE("reductions: empty tensors sum to zero and have no mean") {
  CHECK(sum(Tensor({0, 3})).item() == 0);
  CHECK(identical(sum_rows(Tensor({0, 3})), Tensor::zeros({3})));
  CHECK(identical(sum_columns(Tensor({2, 0})), Tensor::zeros({2, 1})));
  CHECK(sum_columns(Tensor({0, 3})).shape() == Shape{0, 1});
  Tensor none = Tensor({0, 3}).require_gradient();
  Tape tape;
  tape.backward(sum(none));
  CHECK(none.gradient_data() != nullptr);
  CHECK_ERROR(mean(Tensor({0, 3})), "mean: [0 x 3] has nothing to take the mean of");
  CHECK_ERROR(mean_square(Tensor({0, 3})), "mean_square: [0 x 3] has nothing to take the mean of");
  CHECK_ERROR(mean_columns(Tensor({2, 0})), "mean_columns: [2 x 0] has nothing to take the mean of");
  CHECK_ERROR(mean_rows(Tensor({0, 3})), "mean_rows: [0 x 3] has nothing to take the mean of");
  CHECK_ERROR(sum_columns(Tensor(Shape{})), "sum_columns: a scalar has no last axis");
  CHECK_ERROR(sum_rows(Tensor(Shape{})), "sum_rows: a scalar has no last axis");
}

TEST_CASE("sum_over meets every term once, for every length") {
  for (size_t count = 0; count < 300; ++count) {
    const double expected = static_cast<double>(count) * (static_cast<double>(count) + 1) / 2;
    CHECK(sum_over(count, [](size_t i) { return static_cast<real>(i + 1); }) == static_cast<real>(expected));
  }
}

TEST_CASE("the error of equal terms, which always rounds the same way, does not add up") {
  // Rounded, the sum is off by half a unit in its last place; one running sum of 30,000 is off by hundreds.
  double worst = 0;
  const Tensor terms = sample({50}, 1, 1, 2);
  for (const size_t count : {100U, 1000U, 4096U, 30000U, 300000U})
    for (const real term : terms.values()) {
      const auto exact = static_cast<long double>(term) * static_cast<long double>(count);
      const auto off = [&](real sum) {
        return static_cast<double>(std::fabs(static_cast<long double>(sum) / exact - 1));
      };
      const TwoSums two = two_sums_over(
          count, [=](size_t) { return term; }, [=](size_t) { return -term; });
      worst = std::max(
          {worst, off(sum_over(count, [=](size_t) { return term; })), off(two.first), off(-two.second)});
    }
  CHECK(worst < 4 * ulp);
}

TEST_CASE("column_sums meets every term once, for every number of rows and range of columns") {
  for (const auto& [begin, end] : {std::pair<size_t, size_t>{0, 1}, {0, 5}, {3, 40}, {16, 300}, {7, 600}})
    for (size_t rows = 0; rows < 300; rows += rows < 140 ? 1 : 23) {
      std::vector<real> sums(end, real(-1)), first(end, real(-1)), second(end, real(-1));
      column_sums(rows, begin, end, sums.data(),
                  [](size_t r) { return [r](size_t c) { return static_cast<real>(r + c); }; });
      two_column_sums(rows, begin, end, first.data(), second.data(), [](size_t r) {
        return [r](size_t c) { return TwoSums{static_cast<real>(r + c), static_cast<real>(r)}; };
      });
      size_t wrong = 0;
      for (size_t c = 0; c < end; ++c) {
        const size_t whole = c < begin ? 0 : rows * (rows - (rows > 0)) / 2;
        const real untouched = -1, total = static_cast<real>(whole + rows * c);
        wrong += sums[c] != (c < begin ? untouched : total);
        wrong += first[c] != (c < begin ? untouched : total);
        wrong += second[c] != (c < begin ? untouched : static_cast<real>(whole));
      }
      CHECK(wrong == 0);
    }
}

namespace {

/// The largest error of the elements of `found`, relative to those of `exact`, in units of the last place.
template <class Exact>
double worst_relative(const Tensor& found, const Exact& exact) {
  double worst = 0;
  for (size_t i = 0; i < found.size(); ++i)
    worst =
        std::max(worst, std::fabs(static_cast<double>(static_cast<long double>(found[i]) / exact(i) - 1)));
  return worst / ulp;
}

}  // namespace

TEST_CASE("sums over 300,000 rows are as accurate as short ones") {
  constexpr size_t rows = 300000, columns = 6;
  const Tensor x = sample({rows, columns}, 1, 0, 1);
  std::vector<long double> exact(columns);
  for (size_t i = 0; i < x.size(); ++i) exact[i % columns] += static_cast<long double>(x[i]);
  const auto of_column = [&](size_t c) { return exact[c]; };
  long double whole = 0;
  for (const long double each : exact) whole += each;

  CHECK(worst_relative(sum_rows(x), of_column) < 6);
  CHECK(worst_relative(mean_rows(x), [&](size_t c) { return exact[c] / rows; }) < 6);
  CHECK(worst_relative(sum(x), [&](size_t) { return whole; }) < 6);
  CHECK(worst_relative(sum_columns(x.reshape({1, x.size()})), [&](size_t) { return whole; }) < 6);

  // The gradient of what every row reads is a sum over all rows.
  const Tensor zero = Tensor::zeros({rows, columns});
  for (const bool layer : {false, true}) {
    Tensor row = Tensor::zeros({columns}).require_gradient();
    Tensor number = Tensor::zeros({1}).require_gradient();
    Tape tape;
    const Tensor y = layer ? linear(Tensor::zeros({rows, 2}), Tensor::zeros({2, columns}), row) : zero + row;
    tape.backward(sum((y + number) * x));
    CHECK(worst_relative(row.gradient(), of_column) < 6);
    CHECK(worst_relative(number.gradient(), [&](size_t) { return whole; }) < 6);
  }
}

TEST_CASE("long sums stay accurate and do not depend on threads") {
  const Tensor x = sample({1000003}, 1, 0, 1);
  long double exact = 0;
  for (const real v : x.values()) exact += static_cast<long double>(v);
  set_threads(1);
  const real one = sum(x).item();
  set_threads(2);
  CHECK(sum(x).item() == one);
  CHECK(std::fabs(static_cast<double>(one) / static_cast<double>(exact) - 1) < 200 * ulp);
  set_threads(0);
}
