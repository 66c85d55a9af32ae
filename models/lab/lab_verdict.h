#pragma once
// What the rows of a lab say about its claims.

#include "models/evidence/verdict.h"
#include "models/lab/rows.h"

namespace lamina::lab {

/// "layer", "layer, lowest", "batch at 4", "1e-12": what stands above the numbers of a claim.
std::string name_of(const LabNumber& number);

Verdict judge(const LabClaim& claim, const Rows& rows);

/// One for each claim.
std::vector<Verdict> verdicts_of(const Lab& lab, const Rows& rows);

}  // namespace lamina::lab
