// Products over leading axes: each item against the product of its matrices, gradients with every broadcast.

#include "core/ops/batched_matmul.h"

#include "core/ops.h"
#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr Transpose no = Transpose::no, yes = Transpose::yes;

/// Leading axes of both operands and of their product.
struct Leading {
  std::vector<size_t> a, b, c;
};
const std::vector<Leading> pairs_of_leading = {
    {{3}, {3}, {3}},          {{1}, {3}, {3}},       {{3}, {1}, {3}},          {{}, {3}, {3}},
    {{2, 3}, {2, 3}, {2, 3}}, {{2, 3}, {3}, {2, 3}}, {{3}, {2, 3}, {2, 3}},    {{2, 1}, {1, 3}, {2, 3}},
    {{2, 3}, {2, 1}, {2, 3}}, {{}, {2, 3}, {2, 3}},  {{1, 1}, {1, 1}, {1, 1}}, {{1}, {2, 1}, {2, 1}},
};

Shape shape_of(const std::vector<size_t>& leading, size_t rows, size_t columns) {
  switch (leading.size()) {
    case 0:
      return {rows, columns};
    case 1:
      return {leading[0], rows, columns};
    default:
      return {leading[0], leading[1], rows, columns};
  }
}

Tensor operand(const std::vector<size_t>& leading, size_t rows, size_t columns, Transpose op,
               std::uint64_t seed) {
  return sample(op == yes ? shape_of(leading, columns, rows) : shape_of(leading, rows, columns), seed);
}

/// The matrix of x that meets item (outer, inner).
Tensor matrix(const Tensor& x, size_t outer, size_t inner) {
  const int rank = x.shape().rank();
  const auto index = [](size_t size, size_t i) { return size == 1 ? 0 : i; };
  if (rank == 2) return x;
  if (rank == 3) return x.step(index(x.shape()[0], inner));
  return x.step(index(x.shape()[0], outer)).step(index(x.shape()[1], inner));
}

}  // namespace

TEST_CASE("batched matmul: each item is the product of its matrices, in every form and broadcast") {
  for (const Leading& leading : pairs_of_leading)
    for (const Transpose a_op : {no, yes})
      for (const Transpose b_op : {no, yes}) {
        const Tensor a = operand(leading.a, 5, 7, a_op, 1), b = operand(leading.b, 7, 3, b_op, 2);
        CAPTURE(a.shape());
        CAPTURE(b.shape());
        const Tensor c = matmul(a, b, {.a = a_op, .b = b_op});
        REQUIRE(c.shape() == shape_of(leading.c, 5, 3));
        const Tensor items = c.reshape({c.size() / 15, 5, 3});
        const size_t inner = leading.c.back();
        for (size_t i = 0; i < items.shape()[0]; ++i)
          CHECK(difference(items.step(i), matmul(matrix(a, i / inner, i % inner),
                                                 matrix(b, i / inner, i % inner), {.a = a_op, .b = b_op})) <
                4 * ulp);
      }
}

TEST_CASE("batched matmul: gradients of both operands, in every form and broadcast") {
  for (const Leading& leading : pairs_of_leading)
    for (const Transpose a_op : {no, yes})
      for (const Transpose b_op : {no, yes}) {
        const Tensor a = operand(leading.a, 3, 5, a_op, 1), b = operand(leading.b, 5, 2, b_op, 2);
        check_gradients({a, b}, [&] { return weighted(matmul(a, b, {.a = a_op, .b = b_op})); });
      }
}

TEST_CASE(
    "batched matmul: small products read in place and large ones equal single products, with gradients") {
  struct Sizes {
    size_t m, k, n;
  };
  for (const Sizes& sizes : {Sizes{8, 1, 8}, Sizes{9, 17, 33}, Sizes{31, 256, 8}, Sizes{15, 300, 40}})
    for (const Transpose a_op : {no, yes})
      for (const Transpose b_op : {no, yes}) {
        const auto run = [&](bool together) {
          Tensor a = operand({2}, sizes.m, sizes.k, a_op, 1).require_gradient(),
                 b = operand({2}, sizes.k, sizes.n, b_op, 2).require_gradient();
          const Tensor weights = sample({2, sizes.m, sizes.n}, 3);
          Tape tape;
          if (together)
            tape.backward(sum(matmul(a, b, {.a = a_op, .b = b_op}) * weights));
          else
            tape.backward(sum(matmul(a.step(0), b.step(0), {.a = a_op, .b = b_op}) * weights.step(0)) +
                          sum(matmul(a.step(1), b.step(1), {.a = a_op, .b = b_op}) * weights.step(1)));
          return std::vector<Tensor>{a.gradient(), b.gradient()};
        };
        const auto together = run(true), apart = run(false);
        for (size_t i = 0; i < 2; ++i) CHECK(difference(together[i], apart[i]) < 100 * ulp);
      }
}

TEST_CASE("batched matmul: several transposed matrices times one") {
  const Tensor a = sample({4, 5, 3}, 1), b = sample({5, 2}, 2);
  CHECK(matmul(a, b, {.a = yes}).shape() == Shape{4, 3, 2});
  CHECK(difference(matmul(a, b, {.a = yes}).step(3), matmul(a.step(3), b, {.a = yes})) < 4 * ulp);
  check_gradients({a, b}, [&] { return weighted(matmul(a, b, {.a = yes})); });
}

TEST_CASE("batched matmul: one tensor as both operands, and sizes of 1") {
  const Tensor x = sample({2, 3, 3}, 1), row = sample({2, 1, 4}, 2), column = sample({2, 4, 1}, 3);
  check_gradients({x}, [&] { return weighted(matmul(x, x, {.b = yes})); });
  check_gradients({row, column},
                  [&] { return weighted(matmul(row, column)) + weighted(matmul(column, row)); });
}

TEST_CASE("batched matmul: sizes of zero") {
  const auto gradients = [](Tensor a, Tensor b) {
    a.require_gradient();
    b.require_gradient();
    Tape tape;
    const Tensor c = matmul(a, b);
    tape.backward(sum(c));
    return std::vector<Tensor>{c, a.gradient(), b.gradient()};
  };
  const auto no_items = gradients(Tensor({0, 2, 3}), Tensor::ones({1, 3, 4}));
  CHECK(no_items[0].shape() == Shape{0, 2, 4});
  CHECK(identical(no_items[2], Tensor::zeros({1, 3, 4})));
  const auto no_terms = gradients(Tensor({2, 3, 0}), Tensor({2, 0, 4}));
  CHECK(identical(no_terms[0], Tensor::zeros({2, 3, 4})));
  const auto no_rows = gradients(Tensor({2, 0, 3}), Tensor::ones({2, 3, 4}));
  CHECK(identical(no_rows[2], Tensor::zeros({2, 3, 4})));
}

TEST_CASE("batched matmul: a matrix that very many items read gets an accurate gradient") {
  constexpr size_t items = 20000;
  Tensor a = leaf({1, 1, 1}, 1);
  const Tensor b = sample({items, 1, 1}, 2, 0, 1);
  Tape tape;
  tape.backward(sum(matmul(a, b)));
  long double exact = 0;
  for (const real value : b.values()) exact += value;
  CHECK(std::abs(static_cast<long double>(a.gradient().item()) - exact) <
        4 * static_cast<long double>(ulp) * exact);
}

TEST_CASE(
    "batched matmul: bits repeat, and do not depend on the number of threads where products stay whole") {
  const auto run = [](int count) {
    set_threads(count);
    Tensor q = leaf({4, 8, 64, 32}, 1), k = leaf({4, 8, 64, 32}, 2);
    Tape tape;
    const Tensor scores = matmul(q, k, {.b = yes});
    tape.backward(weighted(scores));
    return std::vector<Tensor>{scores, q.gradient(), k.gradient()};
  };
  const auto single = run(1), twice = run(2), again = run(2);
  for (size_t i = 0; i < single.size(); ++i) {
    CHECK(identical(twice[i], again[i]));
    CHECK(identical(single[i], twice[i]));
  }
  set_threads(0);
}

TEST_CASE("batched matmul names the shapes that do not fit") {
  CHECK_ERROR(matmul(Tensor({2, 3, 4}), Tensor({5, 4, 2})),
              "matmul: [2 x 3 x 4] * [5 x 4 x 2]: leading sizes 2 and 5 differ, and neither is 1");
  CHECK_ERROR(matmul(Tensor({2, 3, 4}), Tensor({2, 3, 4})),
              "matmul: [2 x 3 x 4] * [2 x 3 x 4]: inner sizes 4 and 3 differ");
}
