// A claim's table in a summary.

#include <doctest/doctest.h>

#include "tools/study/tables/study_report.h"

using namespace lamina;

TEST_CASE("a claim's table: no ratio of what is not above 0, and no difference beside a run that diverged") {
  const Claim claim{.metric = "loss", .ratio = true, .least = 1};
  Verdict verdict = judge(claim, {{.seed = 1, .subject = -2, .other = -1},
                                  {.seed = 2, .subject = 2, .other = 3},
                                  {.seed = 3, .subject = 2, .other = {}}});
  const std::string section = claim_section(verdict, 1, "loss");
  CHECK(section.find("| 1 | -2 | -1 | - |\n| 2 | 2 | 3 | 1.5 |\n| 3 | 2 | diverged | - |") !=
        std::string::npos);
  verdict.claim.without = "did not get there";
  CHECK(claim_section(verdict, 1, "loss").find("| 3 | 2 | did not get there | - |") != std::string::npos);
}
