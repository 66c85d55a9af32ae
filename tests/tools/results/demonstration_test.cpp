#include "tools/results/demonstration.h"

#include <doctest/doctest.h>

using namespace lamina;

namespace {

Demonstrated with(double baseline, double batch, double layer) {
  return {.claim = "Section 6.2: layer norm is the best.",
          .what = "validation error",
          .column = "stories",
          .entries = {{"baseline", baseline}, {"batch norm", batch}, {"layer norm", layer}}};
}

}  // namespace

TEST_CASE("what a run shows is computed, also when it contradicts the paper") {
  CHECK(shown_by(with(0.527, 0.641, 0.343)) ==
        "layer norm 34.3%, baseline 52.7%, batch norm 64.1%: as the paper says");
  CHECK(shown_by(with(0.3, 0.641, 0.343)).ends_with(": not as the paper says"));
  CHECK(shown_by(with(0.527, 0.2, 0.343)).ends_with(": not as the paper says"));
  CHECK(shown_by(with(0.343, 0.641, 0.343)).ends_with(": not as the paper says"));
}

TEST_CASE("the best of each column stands in asterisks") {
  CHECK(demonstration_table({with(0.527, 0.641, 0.343), with(0.04, 0.0394, 0.05)}) ==
        "| variant | stories | stories |\n|---|---|---|\n| baseline | 52.7% | 4.0% |\n"
        "| batch norm | 64.1% | **3.9%** |\n| layer norm | **34.3%** | 5.0% |\n");
}
