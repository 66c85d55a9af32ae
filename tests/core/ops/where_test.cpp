// maximum, minimum and where.

#include "core/ops/elementwise.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr real not_a_number = std::numeric_limits<real>::quiet_NaN();

/// 0 or 1, at random.
Tensor some_mask(const Shape& shape) {
  Tensor mask = sample(shape, 9);
  for (real& value : mask.values()) value = value > 0 ? 1 : 0;
  return mask;
}

}  // namespace

TEST_CASE("maximum and minimum: values, ties and NaN") {
  const Tensor a = Tensor::from({5}, {1, 3, 2, not_a_number, 0}),
               b = Tensor::from({5}, {2, 1, 2, 0, not_a_number});
  const Tensor larger = maximum(a, b), smaller = minimum(a, b);
  CHECK(difference(larger.slice(0, 3), {2, 3, 2}) == 0);
  CHECK(difference(smaller.slice(0, 3), {1, 1, 2}) == 0);
  for (const size_t i : {size_t{3}, size_t{4}}) {
    CHECK(std::isnan(larger[i]));
    CHECK(std::isnan(smaller[i]));
  }
  using Op = Tensor (*)(const Tensor&, const Tensor&);
  for (const auto op : {Op{maximum}, Op{minimum}}) {
    Tensor u = Tensor::from({2}, {1, 2}).require_gradient(), v = Tensor::from({2}, {1, 1}).require_gradient();
    Tape tape;
    tape.backward(sum(op(u, v)));
    CHECK(difference(u.gradient() + v.gradient(), {1, 1}) == 0);
    CHECK(u.gradient()[0] == real(0.5));
  }
}

TEST_CASE("maximum and minimum with a number are those with a tensor of that number") {
  const Tensor hinge = Tensor::from({3}, {real(-0.5), 0, 2});
  CHECK(difference(maximum(hinge, 0), {0, 0, 2}) == 0);
  CHECK(difference(minimum(hinge, 0), {-0.5, 0, 0}) == 0);
  for (const Shape& shape : odd_shapes) {
    Tensor a = sample(shape, 1, -3, 3);
    const Tensor number = Tensor::full({}, real(0.3));
    CHECK(maximum(a, real(0.3)).shape() == shape);
    CHECK(difference(maximum(a, real(0.3)), maximum(a, number)) == 0);
    CHECK(difference(minimum(a, real(0.3)), minimum(a, number)) == 0);
    check_gradients({a}, [&] { return weighted(square(maximum(a, real(0.3))) + minimum(a, real(0.3))); });
  }
}

TEST_CASE("maximum and minimum: gradients, repeated operands") {
  for (const Shape& shape : odd_shapes)
    for (const Shape& other : {shape, Shape{shape[1]}, Shape{shape[0], 1}, Shape{}, Shape{2, 1, shape[1]}}) {
      CAPTURE(text(shape, " and ", other));
      // Far from ties: one has whole numbers, the other the halves between them.
      Tensor a = sample(shape, 1, -3, 3), b = sample(other, 2, -3, 3);
      for (real& value : a.values()) value = std::round(value);
      for (real& value : b.values()) value = std::round(value) + real(0.5);
      check_gradients({a, b}, [&] { return weighted(square(maximum(a, b)) + minimum(b, a)); });
    }
}

TEST_CASE("where: values and gradients, everything repeated") {
  struct Case {
    Shape mask, a, b, result;
  };
  const Case cases[] = {{{2, 3}, {2, 3}, {2, 3}, {2, 3}},
                        {{3}, {2, 3}, {2, 3}, {2, 3}},
                        {{2, 1}, {3}, {}, {2, 3}},
                        {{2, 3}, {}, {1}, {2, 3}},
                        {{}, {2, 3}, {2, 1}, {2, 3}},
                        {{4, 1, 5}, {3, 1}, {5}, {4, 3, 5}},
                        {{1}, {1}, {1}, {1}},
                        {{7, 17}, {17}, {7, 17}, {7, 17}},
                        {{0, 3}, {3}, {}, {0, 3}}};
  for (const Case& each : cases) {
    CAPTURE(text(each.mask, each.a, each.b));
    const Tensor mask = some_mask(each.mask), a = sample(each.a, 1), b = sample(each.b, 2);
    const Tensor y = where(mask, a, b);
    REQUIRE(y.shape() == each.result);
    const Tensor zeros = Tensor::zeros(each.result), m = mask + zeros;
    CHECK(identical(y, m * (a + zeros) + (1 - m) * (b + zeros)));
    if (y.size() > 0) check_gradients({a, b}, [&] { return weighted(where(mask, a, b)); });
  }
}

TEST_CASE("where: what is not chosen has derivative 0, whatever it is; the mask has none") {
  Tensor x = Tensor::from({3}, {-1, 4, 0}).require_gradient(),
         mask = Tensor::from({3}, {0, 2, 0}).require_gradient();
  Tape tape;
  const Tensor y = where(mask, sqrt(x), Tensor::full({}, 7));
  CHECK(difference(y, {7, 2, 7}) == 0);
  tape.backward(sum(y * y));
  CHECK(mask.gradient_data() == nullptr);
  CHECK(x.gradient()[1] == 1);

  Tensor inner = Tensor::from({2}, {not_a_number, 1}).require_gradient();
  Tape again;
  again.backward(sum(where(Tensor::from({2}, {0, 1}), inner * inner, Tensor::zeros({2}))));
  CHECK(difference(inner.gradient().slice(1, 2), {2}) == 0);
}

TEST_CASE("where: a mask written between the passes is found") {
  Tensor x = leaf({3}, 1), mask = Tensor::ones({3});
  Tape tape;
  const Tensor loss = sum(where(mask, x, -x));
  mask[1] = 0;
  CHECK(contains(error_of([&] { tape.backward(loss); }), "of the op 'where'"));
}

TEST_CASE("where: shapes that do not fit") {
  CHECK_ERROR(where(Tensor({2, 3}), Tensor({2}), Tensor({3})),
              "where: [2] and [3]: the sizes 2 and 3 of axis -1, counted from the right, must be equal or "
              "one of them 1");
  CHECK_ERROR(where(Tensor({4}), Tensor({4, 1}), Tensor({1})),
              "where: [4] and [4 x 1] would be paired across to [4 x 4]; reshape one of them so that both "
              "have the same "
              "number of axes");
}
