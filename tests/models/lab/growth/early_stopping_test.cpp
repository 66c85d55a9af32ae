// At which updates the lab of early stopping looks.

#include "models/lab/growth/early_stopping.h"

#include "tests/check.h"

using namespace lamina::lab;

TEST_CASE("early stopping: points spread evenly on a scale of logarithms") {
  CHECK(spread_updates(5000) == std::vector<size_t>{1, 3, 10, 30, 100, 300, 1000, 3000, 5000});
  CHECK(spread_updates(3) == std::vector<size_t>{1, 3});
  CHECK(spread_updates(1) == std::vector<size_t>{1});
}
