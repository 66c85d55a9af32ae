// The bounds of operator[], which a program checks that is compiled without NDEBUG.

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
}
