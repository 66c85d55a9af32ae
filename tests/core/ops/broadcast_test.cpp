// Which elements meet when the shapes of two operands differ, and where the gradients of repeated operands
// go.

#include "core/ops/broadcast.h"

#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

using Binary = Tensor (*)(const Tensor&, const Tensor&);
constexpr Binary all[] = {operator+, operator-, operator*, operator/ };

struct Operands {
  Shape a, b, result;
};

/// Every combination along four axes: both advance, the first is repeated, the second is.
std::vector<Operands> every_form() {
  const size_t sizes[] = {2, 3, 4, 5};
  std::vector<Operands> pairs;
  for (int code = 0; code < 81; ++code) {
    Operands pair{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}};
    for (int axis = 0, rest = code; axis < 4; ++axis, rest /= 3) {
      const size_t size = sizes[axis];
      if (rest % 3 != 1) pair.a = pair.a.with(axis, size);
      if (rest % 3 != 2) pair.b = pair.b.with(axis, size);
      pair.result = pair.result.with(axis, size);
    }
    pairs.push_back(pair);
  }
  return pairs;
}

/// Without its leading axes of size 1.
Shape shortened(const Shape& shape) {
  if (shape[0] != 1) return shape;
  if (shape[1] != 1) return {shape[1], shape[2], shape[3]};
  if (shape[2] != 1) return {shape[2], shape[3]};
  return {shape[3]};
}

/// The position in an operand of rank 4 of the result's element i.
size_t position(size_t i, const Shape& result, const Shape& operand) {
  size_t found = 0, step = 1;
  for (int axis = 3; axis >= 0; --axis) {
    found += (operand[axis] == 1 ? 0 : i % result[axis]) * step;
    step *= operand[axis];
    i /= result[axis];
  }
  return found;
}

void check_product(const Operands& pair) {
  Tensor a = leaf(pair.a, 1), b = leaf(pair.b, 2);
  const Tensor dy = sample(pair.result, 3);
  Tensor expected(pair.result), da = Tensor::zeros(pair.a), db = Tensor::zeros(pair.b);
  for (size_t i = 0; i < dy.size(); ++i) {
    const size_t j = position(i, pair.result, pair.a), k = position(i, pair.result, pair.b);
    expected[i] = a[j] * b[k];
    da[j] += dy[i] * b[k];
    db[k] += dy[i] * a[j];
  }
  for (const bool shorter : {false, true}) {
    CAPTURE(text(pair.a, " and ", pair.b, shorter ? " without leading ones" : ""));
    const Shape of_a = shorter ? shortened(pair.a) : pair.a, of_b = shorter ? shortened(pair.b) : pair.b;
    if (of_a.rank() < 4 && of_b.rank() < 4) continue;
    a.clear_gradient();
    b.clear_gradient();
    Tape tape;
    const Tensor y = a.reshape(of_a) * b.reshape(of_b);
    CHECK(identical(y, expected));
    tape.backward(y, dy);
    CHECK(difference(a.gradient(), da) < 40 * ulp);
    CHECK(difference(b.gradient(), db) < 40 * ulp);
  }
}

Shape sum_shape(const Shape& a, const Shape& b) { return (Tensor::zeros(a) + Tensor::zeros(b)).shape(); }

}  // namespace

TEST_CASE("broadcast: every pair of four axes, values and gradients") {
  for (const Operands& pair : every_form()) check_product(pair);
}

TEST_CASE("broadcast: shapes of results") {
  CHECK(sum_shape({8, 1, 6}, {7, 1}) == Shape{8, 7, 6});
  CHECK(sum_shape({3}, {2, 3}) == Shape{2, 3});
  CHECK(sum_shape({2, 3}, {1, 3}) == Shape{2, 3});
  CHECK(sum_shape({3, 4}, {2, 1, 4}) == Shape{2, 3, 4});
  CHECK(sum_shape({5, 2, 3, 4}, {2, 1, 4}) == Shape{5, 2, 3, 4});
  CHECK(sum_shape({3, 1}, {1, 4}) == Shape{3, 4});
  CHECK(sum_shape({3, 1}, {4}) == Shape{3, 4});
  CHECK(sum_shape({3, 1}, {1, 3}) == Shape{3, 3});
  CHECK(sum_shape({7, 1, 5}, {1, 7, 1}) == Shape{7, 7, 5});
  // A tensor of size one is a number whatever its rank, as either operand.
  CHECK(sum_shape({2, 3}, {1, 1, 1}) == Shape{2, 3});
  CHECK(sum_shape({1, 1, 1}, {2, 3}) == Shape{2, 3});
  CHECK(sum_shape({}, {2, 3}) == Shape{2, 3});
  CHECK(sum_shape({1}, {1, 1}) == Shape{1});
  // A column over all rows, where NumPy's rule fits nothing; where it fits, its shape.
  CHECK(sum_shape({2, 3, 5}, {6, 1}) == Shape{2, 3, 5});
  CHECK(sum_shape({3, 2}, {1, 3, 1}) == Shape{1, 3, 2});
  CHECK(sum_shape({1, 3, 1}, {3, 2}) == Shape{1, 3, 2});
  CHECK(sum_shape({0, 1, 2}, {0, 3, 1}) == Shape{0, 3, 2});
}

TEST_CASE("broadcast: gradients of each op in each form") {
  const Operands pairs[] = {{{3}, {2, 3}, {}},
                            {{}, {2, 3}, {}},
                            {{2, 1}, {2, 3}, {}},
                            {{2, 1}, {1, 3}, {}},
                            {{2, 1}, {3}, {}},
                            {{3, 1, 2}, {4, 1}, {}},
                            {{3, 2}, {5, 1, 2}, {}},
                            {{2, 3, 2}, {2, 1, 2}, {}},
                            {{2, 1, 2}, {2, 3, 2}, {}},
                            {{2, 1, 3, 1}, {5, 1, 2}, {}},
                            {{2, 3, 1, 2}, {3, 4, 1}, {}},
                            {{1, 1}, {7}, {}},
                            {{2, 3, 5}, {6, 1}, {}},
                            {{2, 2, 17}, {2, 17}, {}},
                            {{1, 33}, {3, 1, 33}, {}}};
  for (const Operands& pair : pairs)
    for (const Binary op : all) {
      CAPTURE(text(pair.a, " and ", pair.b));
      const Tensor a = sample(pair.a, 1), b = sample(pair.b, 2, 0.5, 2);
      check_gradients({a, b}, [&] { return weighted(op(a, b)); });
    }
}

TEST_CASE("broadcast: one tensor as both operands, and only one that asks") {
  Tensor x = leaf({4, 3}, 1, 0.5, 2);
  check_gradients({x}, [&] { return weighted(x.reshape({4, 1, 3}) / x); });
  check_gradients({x}, [&] { return weighted(x.reshape({12, 1}) * x.reshape({1, 12})); });
  const Tensor constant = sample({3}, 2);
  Tape tape;
  tape.backward(sum(constant * x));
  CHECK(constant.gradient_data() == nullptr);
  CHECK(x.gradient_data() != nullptr);
}

TEST_CASE("broadcast: nothing along an axis") {
  Tensor row = leaf({3}, 1), column = leaf({2, 1}, 2), none = Tensor({2, 0}).require_gradient();
  CHECK(sum_shape({1, 3}, {0, 3}) == Shape{0, 3});
  CHECK(sum_shape({2, 1}, {0}) == Shape{2, 0});
  CHECK(sum_shape({0}, {1}) == Shape{0});
  Tape tape;
  tape.backward(sum(row + Tensor({4, 0, 3})) + sum(column * none));
  CHECK(identical(row.gradient(), Tensor::zeros({3})));
  CHECK(identical(column.gradient(), Tensor::zeros({2, 1})));
  CHECK(none.gradient().size() == 0);
  CHECK_ERROR(row + none,
              "add: [3] and [2 x 0]: the sizes 3 and 0 of axis -1, counted from the right, must be equal or "
              "one of them 1");
}

TEST_CASE("broadcast: long sums lose no digits") {
  // 100,000 numbers near 1 that add up in each element; a running sum in float would be off by far more.
  Tensor a = leaf({1, 3}, 1), middle = leaf({20, 1, 2}, 2);
  const Tensor many = Tensor::full({100000, 3}, real(0.1)), wide = Tensor::full({20, 5000, 2}, real(0.1));
  Tape tape;
  tape.backward(sum(a * many) + sum(middle * wide));
  const Tensor da = a.gradient(), dm = middle.gradient();
  for (const real v : da.values()) CHECK(std::fabs(static_cast<double>(v) / 10000 - 1) < 20 * ulp);
  for (const real v : dm.values()) CHECK(std::fabs(static_cast<double>(v) / 500 - 1) < 20 * ulp);
}

TEST_CASE("broadcast: any number of threads gives the same bits") {
  const auto run = [](int count) {
    set_threads(count);
    Tensor a = leaf({1, 301, 57}, 1), b = leaf({3, 1, 57}, 2, 0.5, 2), c = leaf({301, 1}, 3),
           d = leaf({57}, 4);
    Tape tape;
    const Tensor y = (d - a / b) * c;
    tape.backward(weighted(y));
    return std::vector<Tensor>{y, a.gradient(), b.gradient(), c.gradient(), d.gradient()};
  };
  const auto single = run(1), twice = run(2);
  for (size_t i = 0; i < single.size(); ++i) CHECK(identical(twice[i], single[i]));
  set_threads(0);
}

TEST_CASE("broadcast: what NumPy would pair across is an error") {
  const std::string remedy = "; reshape one of them so that both have the same number of axes";
  CHECK_ERROR(Tensor({4, 1}) - Tensor({4}),
              "subtract: [4 x 1] and [4] would be paired across to [4 x 4]" + remedy);
  CHECK_ERROR(Tensor({4}) - Tensor({4, 1}),
              "subtract: [4] and [4 x 1] would be paired across to [4 x 4]" + remedy);
  CHECK_ERROR(Tensor({2, 3, 1}) * Tensor({6}),
              "multiply: [2 x 3 x 1] and [6] would be paired across to [2 x 3 x 6]" + remedy);
  CHECK_ERROR(Tensor({2, 2, 1}) + Tensor({2, 2}),
              "add: [2 x 2 x 1] and [2 x 2] would be paired across to [2 x 2 x 2]" + remedy);
  CHECK_ERROR(Tensor({6, 1, 5}) + Tensor({6, 1}),
              "add: [6 x 1 x 5] and [6 x 1] would be paired across to [6 x 6 x 5]" + remedy);
  CHECK_ERROR(Tensor({6, 1}) + Tensor({6, 1, 5}),
              "add: [6 x 1] and [6 x 1 x 5] would be paired across to [6 x 6 x 5]" + remedy);
  CHECK_ERROR(Tensor({3, 5}) / Tensor({3, 1, 1}),
              "divide: [3 x 5] and [3 x 1 x 1] would be paired across to [3 x 3 x 5]" + remedy);
}
