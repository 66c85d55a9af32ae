// The bounds of operator[] and at(), which are checked in a program compiled without NDEBUG.

#define LAMINA_CHECK_INDEX 1
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("tensor: an index beyond the last element is an error where indices are checked") {
  Tensor x = sample({2, 3}, 1);
  const Tensor& fixed = x;
  x[5] = 7;
  CHECK(fixed[5] == 7);
  CHECK_ERROR(x[6], "tensor: element 6 of [2 x 3], which has 6");
  CHECK_ERROR(fixed[6000], "tensor: element 6000 of [2 x 3], which has 6");
  CHECK_ERROR(x.step(0)[3], "tensor: element 3 of [3], which has 3");
  const Tensor none;
  CHECK(contains(error_of([&] { (void)none[0]; }), "empty handle"));
}

TEST_CASE("tensor: elements by one index an axis") {
  Tensor x = sample({2, 3, 4}, 1);
  const Tensor& fixed = x;
  for (size_t i = 0; i < 24; ++i) CHECK(fixed.at(i / 12, i / 4 % 3, i % 4) == x[i]);
  x.at(1, 2, 3) = 7;
  CHECK(x[23] == 7);
  CHECK(fixed.step(1).at(2, 3) == 7);
  x.slice(1, 2).at(0, 0, 1) = 5;
  CHECK(x[13] == 5);
  const std::string must = " of [2 x 3 x 4]; an index within each axis is needed";
  CHECK_ERROR(x.at(1, 3, 0), "tensor: element (1, 3, 0)" + must);
  CHECK_ERROR(fixed.at(2, 0, 0), "tensor: element (2, 0, 0)" + must);
  CHECK_ERROR(x.at(1, 2), "tensor: element (1, 2)" + must);
  CHECK_ERROR(x.at(0, 0, 0, 0), "tensor: element (0, 0, 0, 0)" + must);
  CHECK(contains(error_of([&] { x.at(0, 0, -1); }), "of [2 x 3 x 4]"));
  CHECK(contains(error_of([] { Tensor().at(0); }), "empty handle"));
}

TEST_CASE("tensor: what at() writes after the forward pass is found") {
  Tensor x = leaf({2, 3}, 1);
  Tape tape;
  const Tensor loss = sum(x * x);
  x.at(1, 1) = 2;
  CHECK(contains(error_of([&] { tape.backward(loss); }), "was written after it was recorded"));
}
