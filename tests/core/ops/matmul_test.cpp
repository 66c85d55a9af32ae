// Products of matrices: values against the definition, gradients of both operands, all transposes.

#include "core/ops/matmul.h"

#include <utility>

#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr Transpose no = Transpose::no, yes = Transpose::yes;

Tensor operand(size_t rows, size_t columns, Transpose op, std::uint64_t seed) {
  return op == yes ? sample({columns, rows}, seed) : sample({rows, columns}, seed);
}

}  // namespace

TEST_CASE("matmul: every transpose equals the product of the transposed matrices") {
  const Tensor a = Tensor::from({2, 3}, {1, 2, 3, 4, 5, 6}), b = Tensor::from({3, 2}, {1, 0, 2, 1, 0, 3});
  const std::initializer_list<double> product = {5, 11, 14, 23};
  CHECK(difference(matmul(a, b), product) == 0);
  CHECK(difference(matmul(transpose(a), b, {.a = yes}), product) == 0);
  CHECK(difference(matmul(a, transpose(b), {.b = yes}), product) == 0);
  CHECK(difference(matmul(transpose(a), transpose(b), {.a = yes, .b = yes}), product) == 0);
}

TEST_CASE("matmul: gradients of both operands") {
  struct Sizes {
    size_t m, k, n;
  };
  for (const auto& [m, k, n] :
       {Sizes{1, 1, 1}, Sizes{3, 5, 2}, Sizes{7, 17, 3}, Sizes{2, 3, 33}, Sizes{1, 9, 4}})
    for (const Transpose a_op : {no, yes})
      for (const Transpose b_op : {no, yes}) {
        const Tensor a = operand(m, k, a_op, 1), b = operand(k, n, b_op, 2);
        check_gradients({a, b}, [&] { return weighted(matmul(a, b, {.a = a_op, .b = b_op})); });
      }
}

TEST_CASE("matmul: leading axes of the first operand are kept") {
  const Tensor a = sample({2, 3, 5}, 1), b = sample({5, 4}, 2), vector = sample({5}, 3);
  CHECK(matmul(a, b).shape() == Shape{2, 3, 4});
  CHECK(matmul(vector, b).shape() == Shape{4});
  CHECK(identical(matmul(a, b).reshape({6, 4}), matmul(a.reshape({6, 5}), b)));
  check_gradients({a, vector, b}, [&] { return weighted(matmul(a, b)) + weighted(matmul(vector, b)); });
}

TEST_CASE("matmul: a matrix with itself, and weights used twice, add up") {
  const Tensor square = sample({4, 4}, 1), x = sample({3, 4}, 2);
  check_gradients({square}, [&] { return weighted(matmul(square, square)); });
  check_gradients({square}, [&] { return weighted(matmul(square, square, {.b = yes})); });
  check_gradients({x, square}, [&] { return weighted(matmul(tanh(matmul(x, square)), square)); });
}

TEST_CASE("matmul: sizes of zero") {
  Tensor a = Tensor({3, 0}).require_gradient(), b = Tensor({0, 4}).require_gradient();
  {
    Tape tape;
    const Tensor c = matmul(a, b);
    CHECK(identical(c, Tensor::zeros({3, 4})));
    tape.backward(sum(c));
    CHECK(a.gradient().shape() == Shape{3, 0});
  }
  Tensor none = Tensor({0, 3}).require_gradient(), weight = leaf({3, 2}, 1), bias = leaf({2}, 2);
  Tape tape;
  const Tensor y = linear(none, weight, bias);
  CHECK(y.shape() == Shape{0, 2});
  tape.backward(sum(y));
  CHECK(identical(weight.gradient(), Tensor::zeros({3, 2})));
  CHECK(identical(bias.gradient(), Tensor::zeros({2})));
}

TEST_CASE("linear: equals matmul plus bias, with all gradients") {
  for (const Shape& shape : odd_shapes) {
    const Tensor x = sample(shape, 1), weight = sample({shape[1], 6}, 2), bias = sample({6}, 3);
    CHECK(difference(linear(x, weight, bias), matmul(x, weight) + bias) < 8 * ulp);
    CHECK(difference(linear(x, weight, Tensor()), matmul(x, weight)) < 8 * ulp);
    check_gradients({x, weight, bias}, [&] { return weighted(linear(x, weight, bias)); });
    check_gradients({x, weight}, [&] { return weighted(linear(x, weight, Tensor())); });
  }
  const Tensor sequence = sample({2, 3, 4}, 1), weight = sample({4, 5}, 2), bias = sample({5}, 3);
  CHECK(linear(sequence, weight, bias).shape() == Shape{2, 3, 5});
  check_gradients({sequence, weight, bias}, [&] { return weighted(linear(sequence, weight, bias)); });
}

TEST_CASE("linear: large products agree on one and two threads and repeat bit for bit") {
  const auto run = [](int count) {
    set_threads(count);
    Tensor x = leaf({128, 300}, 1), weight = leaf({300, 257}, 2), bias = leaf({257}, 3);
    Tape tape;
    const Tensor y = linear(x, weight, bias);
    tape.backward(weighted(y));
    return std::vector<Tensor>{y, x.gradient(), weight.gradient(), bias.gradient()};
  };
  const auto single = run(1), twice = run(2), again = run(2);
  for (size_t i = 0; i < single.size(); ++i) {
    CHECK(identical(twice[i], again[i]));
    CHECK(difference(single[i], twice[i]) < 100 * ulp);
  }
  set_threads(0);
}

TEST_CASE("matmul and linear name the shapes that do not fit") {
  CHECK_ERROR(matmul(Tensor({128, 784}), Tensor({1000, 784})),
              "matmul: [128 x 784] * [1000 x 784]: inner sizes 784 and 1000 differ");
  CHECK_ERROR(matmul(Tensor({4, 3}), Tensor({5, 3}), {.a = yes, .b = yes}),
              "matmul: [4 x 3]^T * [5 x 3]^T: inner sizes 4 and 3 differ");
  const std::string matrices =
      ": the second must be a matrix or several, and so must a first that is transposed or meets several";
  CHECK_ERROR(matmul(Tensor({2, 3}), Tensor({3})), "matmul: [2 x 3] * [3]" + matrices);
  CHECK_ERROR(matmul(Tensor(Shape{}), Tensor({1, 3})), "matmul: [scalar] * [1 x 3]" + matrices);
  CHECK_ERROR(matmul(Tensor({3}), Tensor({3, 4}), {.a = yes}), "matmul: [3] * [3 x 4]" + matrices);
  CHECK_ERROR(matmul(Tensor({3}), Tensor({2, 3, 4})), "matmul: [3] * [2 x 3 x 4]" + matrices);
  CHECK_ERROR(linear(Tensor({2, 3}), Tensor({4, 5}), Tensor()),
              "linear: [2 x 3] * [4 x 5]: the input's last size must be the weight's first");
  CHECK_ERROR(linear(Tensor({2, 3}), Tensor({3, 5}), Tensor({3})),
              "linear: the bias is [3], the layer has 5 outputs");
}

TEST_CASE(
    "linear: gradients of 1024 x 1024 x 1024 are right to a few units of their largest number's last place") {
  constexpr size_t size = 1024, some = 37;  // every 37th number of each gradient
  for (const double mean : {0, 100}) {
    CAPTURE(mean);
    Tensor x = leaf({size, size}, 1), weight = leaf({size, size}, 2);
    const Tensor dy = sample({size, size}, 3, mean - 1, mean + 1);
    Tape tape;
    tape.backward(linear(x, weight, {}), dy);
    // worst error over largest number, where exact(i, j) is a sum of 1024 products
    const auto units = [&](const Tensor& found, const auto& product) {
      long double worst = 0, largest = 0;
      for (size_t at = 0; at < found.size(); at += some) {
        long double exact = 0;
        for (size_t p = 0; p < size; ++p) exact += product(at / size, at % size, p);
        worst = std::max(worst, std::abs(static_cast<long double>(found[at]) - exact));
        largest = std::max(largest, std::abs(exact));
      }
      return static_cast<double>(worst / largest) / ulp;
    };
    const auto product = [](real a, real b) {
      return static_cast<long double>(a) * static_cast<long double>(b);
    };
    // Plain pointers: sanitizers make other access slow.
    const real *const x_values = std::as_const(x).data(), *const w_values = std::as_const(weight).data(),
                      *const dy_values = dy.data();
    const double of_x = units(x.gradient(), [=](size_t i, size_t j, size_t p) {
      return product(dy_values[i * size + p], w_values[j * size + p]);
    });
    const double of_weight = units(weight.gradient(), [=](size_t i, size_t j, size_t p) {
      return product(x_values[p * size + i], dy_values[p * size + j]);
    });
    INFO(of_x, " and ", of_weight, " units");
    CHECK(of_x < 8);  // PyTorch 1.13 with OpenBLAS: 4 to 7
    CHECK(of_weight < 8);
  }
}
