#pragma once
// What each experiment measures: a study that names something else is refused before it trains for hours.

#include "models/evidence/study.h"

namespace lamina {

/// DataError where the study names a metric that no run of its experiment has and that cannot be recorded either, where it
/// chooses by one of the test set, and where a claim needs the course of one that is measured once, in the test.
void require_metrics_of_experiment(const Study& study);

}  // namespace lamina
