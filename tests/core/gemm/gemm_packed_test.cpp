// Products with packed matrices against a naive triple loop in long double, and packing itself.

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/gemm/gemm.h"
#include "core/threads/parallel.h"
#include "tests/core/gemm/products.h"

using namespace lamina;
using namespace lamina::test::products;

namespace {

/// The packed product as a whole, and of some of its columns.
void check_packed(const Case& t, const std::vector<long double>& product) {
  const Matrix a = left(t), b = right(t), before(t.m, t.n, t.padding, 3);
  PackedMatrix packed;
  packed.pack(t.options.b, t.k, t.n, b.data(), b.stride);
  CHECK(packed.rows() == t.k);
  CHECK(packed.columns() == t.n);
  Matrix c = before;
  gemm_packed(t.m, a.data(), a.stride, packed, c.data(), c.stride, t.options.accumulate);
  compare(t, product, before, c);
  for (const auto& [begin, end] :
       {std::pair<size_t, size_t>{0, t.n / 2}, {t.n / 3, t.n}, {t.n / 2, t.n / 2}}) {
    Matrix some = before;
    gemm_packed(t.m, a.data(), a.stride, packed, some.data(), some.stride, t.options.accumulate, begin, end);
    compare(t, product, before, some, begin, end);
  }
}

}  // namespace

TEST_CASE("gemm_packed: rows, column ranges and accumulation") {
  for (const size_t m : sizes({1, 2, 4, 5, 13, 16, 32, 300}))
    for (const size_t n : sizes({1, 16, 33, 130, 256}))
      for (const size_t k : sizes({1, 17, 100, 3100})) {  // the last in several blocks of k
        if (k > 100 && m * n > 600) continue;
        const auto product = exact_product(m, n, k);
        for (const Transpose op : {Transpose::no, Transpose::yes})
          for (const bool accumulate : {false, true})
            check_packed({m, n, k, {.b = op, .accumulate = accumulate}, 2}, product);
      }
}

TEST_CASE("gemm_packed: nothing to multiply") {
  PackedMatrix packed;
  packed.pack(Transpose::no, 0, 5, nullptr, 5);
  std::vector<real> c(10, real{7});
  gemm_packed(2, nullptr, 0, packed, c.data(), 5, true);
  CHECK(c == std::vector<real>(10, real{7}));
  gemm_packed(2, nullptr, 0, packed, c.data(), 5, false);
  CHECK(c == std::vector<real>(10, real{0}));
}

TEST_CASE("gemm_packed: what is upcoming changes nothing") {
  const std::vector<real> a = numbers(33 * 70, 1), b = numbers(70 * 90, 2), read_next = numbers(5000, 3);
  PackedMatrix packed;
  packed.pack(Transpose::no, 70, 90, b.data(), 90);
  for (const size_t m : {1u, 13u, 33u}) {
    std::vector<real> c(m * 90), again(m * 90);
    gemm_packed(m, a.data(), 70, packed, c.data(), 90, false);
    const std::span<const real> all(read_next);
    for (const Upcoming& upcoming : {Upcoming{all}, Upcoming{all.first(1), {}, all.last(3000)},
                                     Upcoming{all, all, all, all, all, all}}) {
      gemm_packed(m, a.data(), 70, packed, again.data(), 90, false, 0, npos, upcoming);
      CHECK(again == c);
    }
  }
}

TEST_CASE("PackedMatrix: one that was moved from packs again") {
  const std::vector<real> b = numbers(4 * 9, 1), a = numbers(2 * 4, 2);
  PackedMatrix packed;
  packed.pack(Transpose::no, 4, 9, b.data(), 9);
  const PackedMatrix moved = std::move(packed);
  packed.pack(Transpose::no, 4, 9, b.data(), 9);
  std::vector<real> c(2 * 9), again(2 * 9);
  gemm_packed(2, a.data(), 4, moved, c.data(), 9, false);
  gemm_packed(2, a.data(), 4, packed, again.data(), 9, false);
  CHECK(again == c);
}

TEST_CASE("PackedMatrix: as many threads as there are pack the same") {
  constexpr size_t k = 70, n = 1030;
  const std::vector<real> b = numbers(k * n, 1);
  for (const Transpose op : {Transpose::no, Transpose::yes}) {
    const size_t stride = op == Transpose::yes ? k : n;
    PackedMatrix one, some;
    set_threads(1);
    one.pack(op, k, n, b.data(), stride);
    set_threads(3);
    some.pack(op, k, n, b.data(), stride);
    set_threads(0);
    CHECK(std::equal(one.data(), one.data() + k * n, some.data()));
  }
}

TEST_CASE("PackedMatrix: packing the same size again reuses the memory") {
  const auto b = numbers(70 * 90, 1);
  PackedMatrix packed;
  packed.pack(Transpose::no, 70, 90, b.data(), 90);
  const real* const memory = packed.data();
  packed.pack(Transpose::yes, 70, 90, b.data(), 70);
  CHECK(packed.data() == memory);
}
