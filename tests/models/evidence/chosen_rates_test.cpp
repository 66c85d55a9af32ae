// What a choice of rates by few seeds does to verdicts: how many claims are decided where nothing differs. models/evidence/README.md
// has the numbers, which `build/lamina-tests -tc='chosen rates*'` prints.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/math/random.h"
#include "models/evidence/choice.h"
#include "models/evidence/verdict.h"

using namespace lamina;

namespace {

/// Means of the three rates' runs, in deviations of a run.
using Means = std::array<double, 3>;

/// Of 100 claims between two norms at the best of three rates. Runs are independent draws.
double decided(size_t seeds, size_t choosing, const Means& means) {
  std::string numbers;
  for (size_t seed = 1; seed <= seeds; ++seed) numbers += text(seed > 1 ? ", " : "", seed);
  const std::string few = choosing < seeds ? text(R"("choose_seeds": )", choosing, ", ") : "";
  const Study study = study_from(
      "s.json", text(R"({"experiment": "mnist", "seeds": [)", numbers, R"(], "choose": "loss", )", few,
                     R"("variants": {"norm": ["none", "layer"], "lr": [1, 2, 3]},
      "claims": [{"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none"}}]})"));
  std::vector<MeasuredRun> runs;
  for (const StudyRun& run : study.runs()) runs.push_back({.run = run, .end = {.outcome = RunEnd::finished}});
  Random random(7);
  constexpr int trials = 2000;
  int count = 0;
  for (int trial = 0; trial < trials; ++trial) {
    for (MeasuredRun& each : runs) {
      const double loss = means[each.run.combination % 3] + static_cast<double>(random.normal());
      each.curves = {.columns = {"epoch", "step", "loss"}, .rows = {{1, 10, loss}}};
    }
    count += judge(study.claims[0], study, runs).answer != Verdict::cannot_be_told;
  }
  return 100.0 * count / trials;
}

struct Decided {
  double least = 100, most = 0;
};

Decided decided(size_t seeds, size_t choosing) {
  Decided found;
  for (const Means& means :
       {Means{0, 0, 0}, Means{0, 0.5, 1}, Means{0, 1, 2}, Means{0, 1.5, 1.5}, Means{0, 2, 2}}) {
    const double of_means = decided(seeds, choosing, means);
    found = {std::min(found.least, of_means), std::max(found.most, of_means)};
  }
  MESSAGE(seeds, " seeds, of which ", choosing, " choose: ", found.least, " to ", found.most, " of 100");
  return found;
}

}  // namespace

TEST_CASE("chosen rates: by one or two seeds more than one claim in 25 is decided by chance" *
          doctest::test_suite("slow")) {
  const Decided one = decided(5, 1), two = decided(5, 2), all = decided(5, 5), two_of_eight = decided(8, 2),
                one_of_three = decided(3, 1);
  for (const Decided& found : {one, two, two_of_eight, one_of_three}) CHECK(found.most > all.most);
}
