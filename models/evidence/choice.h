#pragma once
// Which of several combinations a claim compares, such as one norm at several learning rates: the best on validation. And
// which runs there are to train, where that choice is made with the first seeds only (Study::choose_seeds).

#include <vector>

#include "models/evidence/measured_run.h"
#include "models/evidence/study/study.h"

namespace lamina {

/// Runs of one combination that have ended and are no failures of the machine.
std::vector<const MeasuredRun*> ended_runs(const std::vector<MeasuredRun>& runs, size_t combination);

/// Whether a median is less than another one, by more than the rounding of the mean of its two middle values.
bool is_less(double median, double other);

/// Of several combinations the one whose best values of the metric to choose by have the best median over the seeds that
/// choose; a run that diverged is the worst. The first of equal ones.
size_t chosen_of(const std::vector<size_t>& several, const Study& study,
                 const std::vector<MeasuredRun>& runs);

/// The combinations that the claims compare, each once, in the order of the study.
std::vector<size_t> compared_by_claims(const Study& study, const std::vector<MeasuredRun>& runs);

/// Whether every run that chooses has ended: until then nobody knows which others there will be.
bool has_chosen(const Study& study, const std::vector<MeasuredRun>& runs);

/// The runs to train, as far as `runs` tell: all, or first those that choose, and then also what was chosen with the
/// other seeds.
std::vector<StudyRun> runs_to_train(const Study& study, const std::vector<MeasuredRun>& runs);

/// What is in the folder, without the runs that nobody is going to train.
std::vector<MeasuredRun> without_unwanted(const Study& study, std::vector<MeasuredRun> runs);

}  // namespace lamina
