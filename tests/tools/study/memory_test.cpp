#include "tools/study/memory.h"

#include <doctest/doctest.h>

#include <vector>

using namespace lamina;

namespace {
constexpr std::size_t megabyte = std::size_t{1} << 20;
}

TEST_CASE("study: some memory is available") { CHECK(available_memory() > megabyte); }

TEST_CASE("study: a run starts beside others where all come to their peaks") {
  const std::vector<RunMemory> one{{.now = 100 * megabyte, .peak = 300 * megabyte}};
  // 200 for it to grow, 300 for the next one, 256 to spare
  CHECK(fits_beside(one, 300 * megabyte, true, 756 * megabyte));
  CHECK(!fits_beside(one, 300 * megabyte, true, 755 * megabyte));
  CHECK(!fits_beside(one, 300 * megabyte, false, 756 * megabyte));
  CHECK(fits_beside(one, 300 * megabyte, false, 4 * 756 * megabyte));
  CHECK(!fits_beside(one, 0, false, 100'000 * megabyte));
  CHECK(fits_beside({}, 300 * megabyte, true, 0));  // alone it is worth a try
}
