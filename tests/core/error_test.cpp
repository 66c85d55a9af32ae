#include "core/error.h"

#include <doctest/doctest.h>

#include <locale>

#include "models/data/npy.h"
#include "tests/other_locale.h"

using namespace lamina;

TEST_CASE("text: the same in a program of another locale, and so are files") {
  const std::string matrix = npy_bytes(Tensor::zeros({1200, 3}));
  const test::OtherLocale german;
  std::ostringstream stream;
  stream << 1200 << ' ' << 0.5;
  CHECK(stream.str() == "1.200 0,5");
  CHECK(text(1200, ' ', 0.5) == "1200 0.5");
  CHECK(npy_bytes(Tensor::zeros({1200, 3})) == matrix);
}
