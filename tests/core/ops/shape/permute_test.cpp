// permute, transpose of the last two axes, stack and pad.

#include "core/ops/shape/structure.h"

#include "core/ops/elementwise.h"
#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// The same, one number at a time.
Tensor permuted_slowly(const Tensor& x, const std::vector<int>& axes) {
  const int rank = x.shape().rank();
  Shape shape = x.shape();
  for (int i = 0; i < rank; ++i) shape = shape.with(i, x.shape()[axes[static_cast<size_t>(i)]]);
  Tensor y(shape);
  for (size_t place = 0; place < y.size(); ++place) {
    std::vector<size_t> index(static_cast<size_t>(rank));
    size_t rest = place;
    for (int i = rank - 1; i >= 0; --i) {
      index[static_cast<size_t>(axes[static_cast<size_t>(i)])] = rest % shape[i];
      rest /= shape[i];
    }
    size_t from = 0;
    for (int i = 0; i < rank; ++i) from = from * x.shape()[i] + index[static_cast<size_t>(i)];
    y[place] = x[from];
  }
  return y;
}

/// Every order of the axes 0, 1, ..., rank - 1.
std::vector<std::vector<int>> orders(int rank) {
  std::vector<int> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  std::vector<std::vector<int>> found;
  do found.push_back(axes);
  while (std::ranges::next_permutation(axes).found);
  return found;
}

}  // namespace

TEST_CASE("permute: every order of axes, values and gradients") {
  for (const Shape& shape :
       {Shape{}, Shape{5}, Shape{3, 4}, Shape{17, 33}, Shape{2, 3, 4}, Shape{5, 1, 18}, Shape{19, 2, 35},
        Shape{2, 3, 4, 5}, Shape{1, 20, 1, 3}, Shape{2, 17, 3, 16}, Shape{3, 0, 2}})
    for (const std::vector<int>& axes : orders(shape.rank())) {
      CAPTURE(shape);
      Tensor x = leaf(shape, 1);
      Tape tape;
      const Tensor y = permute(x, axes), expected = permuted_slowly(x, axes);
      CHECK(identical(y, expected));
      const Tensor dy = sample(y.shape(), 2);
      tape.backward(y, dy);
      std::vector<int> back(axes.size());
      for (size_t i = 0; i < axes.size(); ++i) back[static_cast<size_t>(axes[i])] = static_cast<int>(i);
      CHECK(identical(x.gradient(), permuted_slowly(dy, back)));
    }
}

TEST_CASE("permute: axes from the end, gradients that add up") {
  const Tensor x = sample({2, 3, 4}, 1);
  CHECK(permute(x, {-1, 0, 1}).shape() == Shape{4, 2, 3});
  CHECK(identical(permute(x, {-1, 0, 1}), permute(x, {2, 0, 1})));
  check_gradients({x}, [&] {
    return weighted(square(permute(x, {2, 0, 1}))) + weighted(permute(x, {1, 0, 2}) * 3);
  });
}

TEST_CASE("permute: large, any number of threads") {
  const Tensor x = sample({9, 130, 7, 65}, 1);
  for (const std::vector<int>& axes : {std::vector{3, 1, 2, 0}, std::vector{0, 2, 1, 3}}) {
    set_threads(1);
    const Tensor single = permute(x, axes);
    set_threads(2);
    CHECK(identical(permute(x, axes), single));
  }
  set_threads(0);
}

TEST_CASE("permute: errors") {
  const Tensor x({2, 3, 4});
  const std::string must = "}: each of its axes must stand there once";
  CHECK_ERROR(permute(x, {0, 1}), "permute: [2 x 3 x 4] by {0, 1" + must);
  CHECK_ERROR(permute(x, {0, 1, 1}), "permute: [2 x 3 x 4] by {0, 1, 1" + must);
  CHECK_ERROR(permute(x, {0, 1, 3}), "permute: [2 x 3 x 4] by {0, 1, 3" + must);
  CHECK_ERROR(permute(x, {0, 1, -4}), "permute: [2 x 3 x 4] by {0, 1, -4" + must);
}

TEST_CASE("transpose: each matrix of the last two axes") {
  const Tensor x = sample({2, 3, 17, 5}, 1);
  CHECK(identical(transpose(x), permuted_slowly(x, {0, 1, 3, 2})));
  CHECK(identical(transpose(x.step(1)), permuted_slowly(x.step(1), {0, 2, 1})));
  check_gradients({x}, [&] { return weighted(square(transpose(x))); });
}

TEST_CASE("stack: values and gradients along every axis") {
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 1, 5}, Shape{0, 2}})
    for (int axis = -shape.rank() - 1; axis <= shape.rank(); ++axis) {
      CAPTURE(text(shape, " ", axis));
      const Tensor a = sample(shape, 1), b = sample(shape, 2), c = sample(shape, 3);
      const Tensor y = stack({a, b, c}, axis);
      REQUIRE(y.shape().rank() == shape.rank() + 1);
      CHECK(y.shape()[axis] == 3);
      const Tensor second = slice(y, axis, 1, 2);
      CHECK(std::ranges::equal(second.values(), b.values()));
      if (shape.size() > 0)
        check_gradients({a, b, c}, [&] { return weighted(square(stack({a, b, a, c}, axis))); });
    }
  CHECK(difference(stack({Tensor::from({2}, {1, 2}), Tensor::from({2}, {3, 4})}), {1, 2, 3, 4}) == 0);
  CHECK(difference(stack({Tensor::from({2}, {1, 2}), Tensor::from({2}, {3, 4})}, -1), {1, 3, 2, 4}) == 0);
}

TEST_CASE("stack: errors") {
  CHECK_ERROR(stack(std::vector<Tensor>{}), "stack: needs at least one tensor");
  CHECK_ERROR(stack({Tensor({2}), Tensor({3})}), "stack: [2] and [3] differ");
  CHECK_ERROR(stack({Tensor({2})}, 2), "stack: parts [2] make no axis 2");
  CHECK_ERROR(stack({Tensor({1, 2, 3, 4})}),
              "stack: parts [1 x 2 x 3 x 4] have 4 axes; a fifth is not supported");
}

TEST_CASE("pad: values and gradients") {
  const Tensor x = Tensor::from({2, 2}, {1, 2, 3, 4});
  CHECK(difference(pad(x, {{}, {1, 2}}), {0, 1, 2, 0, 0, 0, 3, 4, 0, 0}) == 0);
  CHECK(difference(pad(x, {{1, 0}, {.high = 1}}, 7), {7, 7, 7, 1, 2, 7, 3, 4, 7}) == 0);
  CHECK(difference(pad(Tensor({0, 2}), {{0, 1}, {}}, 5), {5, 5}) == 0);
  CHECK(difference(pad(Tensor::full({}, 3), std::span<const AxisPadding>()), {3}) == 0);
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{3, 5}, Shape{2, 3, 4}, Shape{2, 1, 3, 17}}) {
    const Tensor values = sample(shape, 1);
    const std::vector<AxisPadding> all(static_cast<size_t>(shape.rank()), {1, 2}), none(all.size());
    CHECK(identical(pad(values, none), values));
    Tensor y = pad(values, all, 9);
    for (int axis = 0; axis < shape.rank(); ++axis) y = slice(y, axis, 1, 1 + shape[axis]);
    CHECK(identical(y, values));
    check_gradients({values}, [&] { return weighted(square(pad(values, all, 2))) + weighted(values); });
  }
  CHECK_ERROR(pad(x, {{1, 1}}), "pad: 1 paddings for [2 x 2]; one an axis is needed");
  CHECK_ERROR(pad(x, {{}, {2, static_cast<size_t>(-3)}}),
              "pad: 2 and 18446744073709551613 values around an axis of [2 x 2] are too many");
  CHECK_ERROR(pad(x, {{static_cast<size_t>(-1), 0}, {}}),
              "pad: 18446744073709551615 and 0 values around an axis of [2 x 2] are too many");
}
