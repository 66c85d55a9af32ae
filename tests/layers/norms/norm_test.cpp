// The table of the schemes, which commands, figures and models read.

#include "layers/norms/norm.h"

#include <iterator>
#include <set>

#include "layers/norms/normalization.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("norm table: one row a scheme, found by its names, the baseline first and layer norm last") {
  std::set<Norm> norms;
  for (const NormEntry& entry : norm_table) {
    CAPTURE(std::string(entry.name));
    CHECK(norms.insert(entry.norm).second);
    CHECK(&entry_of(entry.norm) == &entry);
    CHECK(norm_named(entry.name) == entry.norm);
    if (*entry.short_name != '\0') CHECK(norm_named(entry.short_name) == entry.norm);
    CHECK(*entry.title != '\0');
    CHECK((entry.vectors || entry.maps));
  }
  for (size_t i = 0; i < std::size(norm_table); ++i) CHECK(norms.contains(static_cast<Norm>(i)));
  CHECK(norm_table[0].norm == Norm::none);
  CHECK(norm_table[std::size(norm_table) - 1].norm == Norm::layer);
  CHECK(!norm_named("").has_value());
}

TEST_CASE("norm table: what adds a bias itself has one") {
  for (const NormEntry& entry : norm_table) {
    CAPTURE(std::string(entry.name));
    Parameters parameters(1);
    const size_t side = entry.vectors ? 1 : 4;
    const Normalization made(parameters, "norm",
                             {.norm = entry.norm, .features = 8, .height = side, .width = side});
    const auto biases = std::ranges::count(parameters.learned(), "norm.bias", &Parameters::Entry::name);
    CHECK((biases == 1) == entry.bias);
  }
}

TEST_CASE("norm table: a scheme without a row is an error that says so") {
  const auto beyond = static_cast<Norm>(std::size(norm_table));
  CHECK_ERROR(entry_of(beyond), text("norm number ", std::size(norm_table),
                                     ": has no row in norm_table; add it (layers/norms/norm.h)"));
}
