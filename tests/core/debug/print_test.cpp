// Tensors as text.

#include "core/debug/print.h"

#include <iomanip>
#include <locale>
#include <sstream>

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

Tensor counted(const Shape& shape) {
  Tensor x(shape);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<real>(i);
  return x;
}

}  // namespace

TEST_CASE("print: numbers as the stream writes them, in its locale") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  std::ostringstream out;
  out.imbue(std::locale(out.getloc(), new Comma));
  out << Tensor::from({2}, {0.5, 1.25});
  CHECK(contains(out.str(), "0,5 1,25"));
}

TEST_CASE("print: scalars, vectors, matrices and what is made of matrices") {
  CHECK(text(Tensor::full({}, real(2.5))) == "[scalar] 2.5");
  CHECK(text(Tensor::from({3}, {1, real(-0.25), 30})) == "[3] [    1 -0.25    30]");
  CHECK(text(Tensor::from({2, 3}, {1, 2, 3, 4, 5, 60})) == "[2 x 3]\n[[ 1  2  3]\n [ 4  5 60]]");
  CHECK(text(counted({2, 2, 2})) == "[2 x 2 x 2]\n[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  CHECK(text(counted({2, 1, 1, 2})) == "[2 x 1 x 1 x 2]\n[[[[0 1]]]\n\n\n [[[2 3]]]]");
}

TEST_CASE("print: empty, infinite and NaN") {
  CHECK(text(Tensor()) == "[an empty handle]");
  CHECK(text(Tensor({0})) == "[0] []");
  CHECK(text(Tensor({2, 0})) == "[2 x 0]\n[[]\n []]");
  CHECK(text(Tensor({0, 3})) == "[0 x 3]\n[]");
  const real infinity = std::numeric_limits<real>::infinity();
  CHECK(text(Tensor::from({3}, {infinity, -infinity, 1})) == "[3] [ inf -inf    1]");
  CHECK(contains(text(Tensor::full({1}, std::numeric_limits<real>::quiet_NaN())), "nan"));
}

TEST_CASE("print: large tensors are elided in the middle of each long axis") {
  CHECK(text(counted({2000})) == "[2000] [   0    1    2 ... 1997 1998 1999]");
  CHECK(text(counted({500, 4})) ==
        "[500 x 4]\n[[   0    1    2    3]\n [   4    5    6    7]\n [   8    9   10   11]\n ...\n"
        " [1988 1989 1990 1991]\n [1992 1993 1994 1995]\n [1996 1997 1998 1999]]");
  CHECK(contains(text(counted({1000})), "999]"));
  CHECK(!contains(text(counted({1000})), "..."));
}

TEST_CASE("print: long rows are broken, digits are those of the stream") {
  const std::string long_row = text(counted({100}));
  CHECK(contains(long_row, "[100]\n[ 0  1  2"));
  CHECK(contains(long_row, " 25\n 26 27"));
  std::istringstream lines(long_row + '\n' + text(counted({24})) + '\n' + text(counted({25})));
  for (std::string line; std::getline(lines, line);) CHECK(line.size() < 80);
  std::ostringstream out;
  out << std::setprecision(2) << Tensor::from({2}, {real(1.2345), 2});
  CHECK(out.str() == "[2] [1.2   2]");
}
