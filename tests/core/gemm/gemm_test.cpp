// Matrix products against a naive triple loop in long double.

#include "core/gemm/gemm.h"

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/gemm/kernel.h"
#include "core/math/random.h"
#include "core/threads/parallel.h"
#include "tests/core/gemm/products.h"
#include "tests/guarded/guarded.h"

using namespace lamina;
using namespace lamina::test::products;
using lamina::test::Against;
using lamina::test::GuardedNumbers;

namespace {

/// Reproducible numbers in [-1, 1], all of whose bits are random: the last bits of `numbers` repeat, so ties of
/// many sums in double all round the same way.
std::vector<real> all_digits(size_t count, unsigned seed) {
  std::vector<real> values(count);
  Random(seed).fill_uniform(values.data(), count, -1, 1);
  return values;
}

void check(const Case& t, const std::vector<long double>& product) {
  const Matrix a = left(t), b = right(t), before(t.m, t.n, t.padding, 3);
  Matrix c = before;
  gemm(t.m, t.n, t.k, a.data(), a.stride, b.data(), b.stride, c.data(), c.stride, t.options);
  compare(t, product, before, c);
}

/// The same product in all its forms.
void check_forms(size_t m, size_t n, size_t k) {
  const auto bias = numbers(n, 4);
  const auto product = exact_product(m, n, k);
  for (const Transpose a : {Transpose::no, Transpose::yes})
    for (const Transpose b : {Transpose::no, Transpose::yes}) {
      check({m, n, k, {.a = a, .b = b}, 0}, product);
      check({m, n, k, {.a = a, .b = b, .accumulate = true}, 3}, product);
      check({m, n, k, {.a = a, .b = b, .bias = bias.data()}, 1}, product);
    }
}

/// OpenBLAS, which serves most products of builds with 128-bit vectors, adds in its own order.
bool left_to_blas(size_t m, size_t n, size_t k) {
  if (!product_kernels::blas_is_faster(m, n, k)) return false;
  MESSAGE("not checked: OpenBLAS computes ", m, " x ", n, " x ", k);
  return true;
}

}  // namespace

TEST_CASE("gemm: long sums into few numbers are not one running sum") {
  for (const auto& sizes : {std::pair<size_t, size_t>{1, 17}, {2, 8}, {4, 33}}) {
    const size_t m = sizes.first, n = sizes.second;
    CAPTURE(m);
    CAPTURE(n);
    const size_t k = 100000;
    if (left_to_blas(m, n, k)) continue;
    const auto a = all_digits(k * m, 1), b = all_digits(k * n, 2);
    std::vector<real> c(m * n);
    gemm(m, n, k, a.data(), m, b.data(), n, c.data(), n, {.a = Transpose::yes});
    long double worst = 0, largest = 0;
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        long double exact = 0;
        for (size_t p = 0; p < k; ++p)
          exact += static_cast<long double>(a[p * m + i]) * static_cast<long double>(b[p * n + j]);
        worst = std::max(worst, std::abs(static_cast<long double>(c[i * n + j]) - exact));
        largest = std::max(largest, std::abs(exact));
      }
    CHECK(worst < 8 * largest * static_cast<long double>(std::numeric_limits<real>::epsilon()));
  }
}

TEST_CASE("gemm: a bias that is large beside the products costs one rounding, not one for each product") {
  const std::vector<real> bias(33, 1000);
  for (const auto& sizes : {std::pair<size_t, size_t>{1, 100}, {3, 250}, {4, 9}, {40, 8}, {40, 100}}) {
    const size_t m = sizes.first, k = sizes.second;
    CAPTURE(m);
    CAPTURE(k);
    const size_t n = bias.size();
    const auto a = numbers(m * k, 1), b = numbers(k * n, 2);
    std::vector<real> c(m * n);
    gemm(m, n, k, a.data(), k, b.data(), n, c.data(), n, {.bias = bias.data()});
    long double worst = 0;
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        long double exact = 1000;
        for (size_t p = 0; p < k; ++p)
          exact += static_cast<long double>(a[i * k + p]) * static_cast<long double>(b[p * n + j]);
        worst = std::max(worst, std::abs(static_cast<long double>(c[i * n + j]) - exact));
      }
    CHECK(worst < 0.6L * 1024 * static_cast<long double>(std::numeric_limits<real>::epsilon()));
  }
}

TEST_CASE("gemm: every form, for sizes around every block edge") {
  for (const size_t m : sizes({0, 1, 2, 3, 7, 15, 16, 17, 33}))
    for (const size_t n : sizes({0, 1, 7, 16, 31, 48, 65}))
      for (const size_t k : sizes({0, 1, 3, 16, 17, 33})) check_forms(m, n, k);
}

namespace {

/// The same numbers, from the first to the last, between unmapped pages.
void copy_into(GuardedNumbers& guarded, const Matrix& from) {
  std::copy_n(from.data(), guarded.size(), guarded.data());
}
size_t extent(const Matrix& a) { return a.rows == 0 ? 0 : (a.rows - 1) * a.stride + a.columns; }

/// A product whose operands lie against unmapped pages gives the same result, without a page fault.
void check_guarded(const Case& t, Against against) {
  const Matrix a = left(t), b = right(t);
  Matrix c(t.m, t.n, t.padding, 3);
  GuardedNumbers near_a(extent(a), against), near_b(extent(b), against), near_c(extent(c), against),
      near_bias(t.n, against);
  copy_into(near_a, a);
  copy_into(near_b, b);
  copy_into(near_c, c);
  GemmOptions options = t.options;
  if (options.bias) {
    std::copy_n(options.bias, t.n, near_bias.data());
    options.bias = near_bias.data();
  }
  INFO(describe(t));
  gemm(t.m, t.n, t.k, a.data(), a.stride, b.data(), b.stride, c.data(), c.stride, t.options);
  gemm(t.m, t.n, t.k, near_a.data(), a.stride, near_b.data(), b.stride, near_c.data(), c.stride, options);
  CHECK(std::equal(near_c.data(), near_c.data() + near_c.size(), c.data()));
}

}  // namespace

TEST_CASE("gemm: reads and writes nothing beyond its operands") {
  const std::vector<real> bias = numbers(300, 4);
  const auto check_all = [&](size_t m, size_t n, size_t k) {
    for (const Transpose a : {Transpose::no, Transpose::yes})
      for (const Transpose b : {Transpose::no, Transpose::yes})
        for (const size_t padding : sizes({0, 3}))
          for (const GemmOptions& options : {GemmOptions{.a = a, .b = b},
                                             {.a = a, .b = b, .accumulate = true},
                                             {.a = a, .b = b, .bias = bias.data()}})
            for (const Against against : {Against::end, Against::beginning})
              check_guarded({m, n, k, options, padding}, against);
  };
  for (const size_t m : sizes({1, 2, 3, 8, 13, 17, 33}))
    for (const size_t n : sizes({1, 3, 8, 15, 16, 33}))
      for (const size_t k : sizes({1, 3, 8, 17, 70})) check_all(m, n, k);
  check_all(70, 257, 130);
  check_all(300, 1, 9);
  check_all(1, 300, 40);
}

TEST_CASE("gemm: one bias serves a whole column, in every form") {
  const std::vector<real> bias = numbers(1, 4);
  for (const size_t m : sizes({1, 3, 7, 8, 20, 100}))
    for (const size_t k : sizes({1, 5, 8, 9, 40})) {
      const auto product = exact_product(m, 1, k);
      for (const Transpose a : {Transpose::no, Transpose::yes})
        for (const Transpose b : {Transpose::no, Transpose::yes})
          check({m, 1, k, {.a = a, .b = b, .bias = bias.data()}, 0}, product);
    }
}

TEST_CASE("gemm: larger and lopsided sizes, above the thresholds of threads and blocks") {
  const std::tuple<size_t, size_t, size_t> cases[] = {
      {129, 100, 257}, {64, 257, 129}, {4, 257, 1100}, {1, 1000, 300},  {257, 10, 129}, {10, 300, 513},
      {300, 300, 4},   {257, 33, 64},  {33, 129, 600}, {520, 130, 40},  {2, 7, 1025},   {31, 600, 100},
      {16, 512, 64},   {600, 7, 257},  {5, 256, 256},  {128, 128, 128},
  };
  for (const auto& [m, n, k] : cases) check_forms(m, n, k);
}

TEST_CASE("gemm: more than one block of rows, columns and k on one thread") {
  const int before = threads();
  set_threads(1);
  check_forms(520, 2080, 10);
  check_forms(520, 40, 64);
  check_forms(20, 60, 2600);
  set_threads(before);
}

TEST_CASE("gemm: any number of threads, and inside a parallel region") {
  const int before = threads();
  for (const int count : {1, 3, 4}) {
    set_threads(count);
    check_forms(130, 140, 150);
    check_forms(3, 500, 600);
  }
  set_threads(before);
  const Case t = {40, 50, 600};
  const Matrix a = left(t), b = right(t), empty(t.m, t.n, 0, 3);
  std::vector<Matrix> results(2, empty);
  for_each_share(2, [&](size_t share) {
    Matrix& c = results[share];
    gemm(t.m, t.n, t.k, a.data(), a.stride, b.data(), b.stride, c.data(), c.stride);
  });
  compare(t, exact_product(t.m, t.n, t.k), empty, results[0]);
  CHECK(results[0].cells == results[1].cells);
}

TEST_CASE("gemm: NaN and infinity propagate, also against zeros") {
  const real nan = std::numeric_limits<real>::quiet_NaN(), infinity = std::numeric_limits<real>::infinity();
  for (const size_t m : sizes({1, 4, 20, 70}))
    for (const size_t n : sizes({3, 40, 300}))
      for (const size_t k : sizes({2, 40}))
        for (const Transpose a_op : {Transpose::no, Transpose::yes})
          for (const Transpose b_op : {Transpose::no, Transpose::yes}) {
            const Case t = {m, n, k, {.a = a_op, .b = b_op}};
            Matrix a = left(t), b = right(t), c(m, n, 0, 3);
            std::fill_n(a.data(), m * k, real{0});
            (b_op == Transpose::yes ? b.at(2, 1) : b.at(1, 2)) = infinity;
            (b_op == Transpose::yes ? b.at(0, 1) : b.at(1, 0)) = nan;
            gemm(m, n, k, a.data(), a.stride, b.data(), b.stride, c.data(), c.stride, t.options);
            for (size_t i = 0; i < m; ++i) {
              CHECK(std::isnan(c.at(i, 0)));
              CHECK(c.at(i, 1) == 0);
              CHECK(std::isnan(c.at(i, 2)));
            }
          }
}

TEST_CASE("gemm: a NaN in c disappears unless accumulating") {
  const std::vector<real> a(6, real{1}), b(6, real{2});
  std::vector<real> c(4, std::numeric_limits<real>::quiet_NaN());
  gemm(2, 2, 3, a.data(), 3, b.data(), 2, c.data(), 2);
  CHECK(c == std::vector<real>(4, real{6}));
}

TEST_CASE("gemm: results are bit-equal from call to call and at any address") {
  for (const auto& [m, n, k] :
       {std::tuple<size_t, size_t, size_t>{128, 300, 700}, {4, 1000, 300}, {900, 333, 8}}) {
    const Case t = {m, n, k};
    const Matrix a = left(t), b = right(t);
    Matrix first(m, n, 0, 3), second = first;
    gemm(m, n, k, a.data(), k, b.data(), n, first.data(), n);
    std::vector<real> moved_a(m * k + 3), moved_b(k * n + 5);
    std::copy_n(a.data(), m * k, moved_a.data() + 3);
    std::copy_n(b.data(), k * n, moved_b.data() + 5);
    gemm(m, n, k, moved_a.data() + 3, k, moved_b.data() + 5, n, second.data(), n);
    CHECK(first.cells == second.cells);
  }
}

TEST_CASE("gemm_backend names the vectors and the OpenBLAS core") {
  CHECK(std::string(gemm_backend()).find("OpenBLAS") != std::string::npos);
}

TEST_CASE("gemm: sums of some hundred products are cut into parts") {
  for (const size_t k : {100u, 200u, 256u, 512u}) {
    CAPTURE(k);
    constexpr size_t m = 70, n = 64;
    if (left_to_blas(m, n, k)) continue;
    const auto a = all_digits(m * k, 1), b = all_digits(k * n, 2);
    std::vector<real> c(m * n);
    gemm(m, n, k, a.data(), k, b.data(), n, c.data(), n);
    long double squares = 0, errors = 0;
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        long double exact = 0;
        for (size_t p = 0; p < k; ++p)
          exact += static_cast<long double>(a[i * k + p]) * static_cast<long double>(b[p * n + j]);
        errors += std::pow(static_cast<long double>(c[i * n + j]) - exact, 2);
        squares += exact * exact;
      }
    const auto units = static_cast<double>(std::sqrt(errors / squares)) /
                       static_cast<double>(std::numeric_limits<real>::epsilon());
    CHECK(units < 2);
  }
}
