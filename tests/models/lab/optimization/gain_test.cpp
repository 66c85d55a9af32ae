// What the lab on initial gains has measured.

#include "models/lab/optimization/gain.h"

#include "core/files/file.h"
#include "models/lab/rows.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;

TEST_CASE("gain: no best rate is at an end of the range") {
  const std::string path = "models/lab/results/gain.csv", rate = "learning rate";
  const Rows rows = rows_of(path, read_file(path));
  for (const char* const variant : {"layer", "batch"})
    for (const std::int64_t seed : seeds_of(rows)) {
      CAPTURE(variant);
      CAPTURE(seed);
      const Points best = points_of(rows, seed, variant, rate);
      CHECK(best.size() == 3);
      for (const Points::value_type& of_gain : best) {
        CAPTURE(of_gain.first);
        CHECK(of_gain.second > 0.000101);
        CHECK(of_gain.second < 0.299);
      }
    }
}
