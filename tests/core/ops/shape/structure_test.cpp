// Slices, concatenation, transpose and gather.

#include "core/ops/shape/structure.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("slice: every axis, from either end") {
  const Tensor x = Tensor::from({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(difference(slice(x, 0, 1, 2), {4, 5, 6}) == 0);
  CHECK(difference(slice(x, 1, 1, 3), {2, 3, 5, 6}) == 0);
  CHECK(slice(x, -1, 1, 3).shape() == Shape{2, 2});
  CHECK(slice(x, 1, 2, 2).shape() == Shape{2, 0});

  const Tensor cube = sample({2, 3, 4, 5}, 1);
  for (int axis = -4; axis < 4; ++axis) {
    const size_t along = cube.shape()[axis];
    for (size_t begin = 0; begin < along; ++begin)
      check_gradients({cube}, [&] { return weighted(square(slice(cube, axis, begin, along))); });
  }
  check_gradients({x}, [&] { return sum(slice(x, 0, 1, 1)) + weighted(x); });
}

TEST_CASE("slice: the rest gets zero, overlapping slices add") {
  Tensor x = leaf({2, 4}, 1);
  {
    Tape tape;
    tape.backward(sum(slice(x, 1, 1, 2)));
  }
  CHECK(difference(x.gradient(), {0, 1, 0, 0, 0, 1, 0, 0}) == 0);
  x.clear_gradient();
  Tape tape;
  tape.backward(sum(slice(x, 1, 0, 3)) + sum(slice(x, 1, 2, 4)));
  CHECK(difference(x.gradient(), {1, 1, 2, 1, 1, 1, 2, 1}) == 0);
}

TEST_CASE("concatenate: every axis") {
  const Tensor a = Tensor::from({1, 2}, {1, 2}), b = Tensor::from({1, 2}, {3, 4});
  CHECK(difference(concatenate({a, b}, 0), {1, 2, 3, 4}) == 0);
  CHECK(concatenate({a, b}, 0).shape() == Shape{2, 2});
  CHECK(concatenate({a, b, a}, 1).shape() == Shape{1, 6});
  CHECK(difference(concatenate({a, b, a}, -1), {1, 2, 3, 4, 1, 2}) == 0);

  for (int axis = -3; axis < 3; ++axis) {
    const Shape shape{2, 3, 4};
    const Tensor first = sample(shape.with(axis, 1), 1), second = sample(shape.with(axis, 3), 2);
    const Tensor empty = sample(shape.with(axis, 0), 3);
    check_gradients({first, second, empty}, [&] {
      return weighted(square(concatenate({first, second, empty, first}, axis)));
    });
  }
}

TEST_CASE("concatenate: more parts than a node remembers, some without gradient") {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < 20; ++i) parts.push_back(i % 3 == 0 ? sample({2, 1}, i) : leaf({2, 1}, i));
  Tape tape;
  tape.backward(weighted(concatenate(parts, 1)));
  const Tensor weights = sample({2, 20}, 4711, 0.5, 1.5);
  for (size_t i = 0; i < 20; ++i) {
    if (i % 3 == 0)
      CHECK(parts[i].gradient_data() == nullptr);
    else
      CHECK(difference(parts[i].gradient(), {weights[i], weights[20 + i]}) == 0);
  }
}

TEST_CASE("concatenate: parts that are views of one tensor") {
  const Tensor x = sample({4, 3}, 1);
  check_gradients({x}, [&] { return weighted(square(concatenate({x.slice(2, 4), x.slice(0, 3), x}, 0))); });
}

TEST_CASE("transpose") {
  CHECK(difference(transpose(Tensor::from({2, 3}, {1, 2, 3, 4, 5, 6})), {1, 4, 2, 5, 3, 6}) == 0);
  for (const Shape& shape : odd_shapes) {
    const Tensor x = sample(shape, 1);
    CHECK(identical(transpose(transpose(x)), x));
    check_gradients({x}, [&] { return weighted(square(transpose(x))); });
  }
}

TEST_CASE("gather: repeated indices add their gradients") {
  const Tensor table = Tensor::from({3, 2}, {1, 2, 3, 4, 5, 6});
  const std::vector<int> indices = {2, 0, 2, 2};
  CHECK(difference(gather(table, indices), {5, 6, 1, 2, 5, 6, 5, 6}) == 0);
  for (const size_t width : {1U, 5U, 33U}) {
    const Tensor words = sample({4, width}, 1);
    check_gradients({words}, [&] { return weighted(square(gather(words, indices))); });
    check_gradients({words}, [&] {
      return weighted(gather(words, indices)) + weighted(gather(words, {{1, 1}}));
    });
  }
  Tensor words = leaf({4, 2}, 1);
  Tape tape;
  const Tensor none = gather(words, {});
  CHECK(none.shape() == Shape{0, 2});
  tape.backward(sum(none));
  CHECK(identical(words.gradient(), Tensor::zeros({4, 2})));
}

TEST_CASE("gather keeps its own copy of the indices until backward") {
  Tensor words = leaf({3, 1}, 1);
  std::vector<int> indices = {1, 1};
  Tape tape;
  const Tensor y = gather(words, indices);
  indices.assign(2, 0);
  tape.backward(sum(y));
  CHECK(difference(words.gradient(), {0, 2, 0}) == 0);
}

TEST_CASE("structure: errors name the op and the shapes") {
  const Tensor x({2, 3});
  CHECK_ERROR(slice(x, 1, 2, 4), "slice: [2, 4) is outside axis 1 of [2 x 3]");
  CHECK_ERROR(slice(x, 0, 2, 1), "slice: [2, 1) is outside axis 0 of [2 x 3]");
  CHECK(contains(error_of([&] { slice(x, 2, 0, 1); }), "slice: [2 x 3]"));
  CHECK_ERROR(concatenate({}, 0), "concatenate: needs at least one tensor");
  CHECK_ERROR(concatenate({x, Tensor({2, 4})}, 0),
              "concatenate: [2 x 3] and [2 x 4] differ in more than axis 0");
  CHECK_ERROR(concatenate({x, Tensor({2})}, 0), "concatenate: [2 x 3] and [2] differ in more than axis 0");
  CHECK(contains(error_of([&] { concatenate({x, x}, 2); }), "concatenate: [2 x 3]"));
  CHECK_ERROR(transpose(Tensor({2})), "transpose: a matrix is needed, this is [2]");
  CHECK_ERROR(gather(Tensor({3}), {{0}}), "gather: the table must be a matrix, it is [3]");
  CHECK_ERROR(gather(x, {{0, 2}}), "gather: index 2 is outside the table of 2 rows");
  CHECK_ERROR(gather(x, {{-1}}), "gather: index -1 is outside the table of 2 rows");
}
