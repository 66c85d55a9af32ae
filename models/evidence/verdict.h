#pragma once
// What the runs of a study say about a claim.
//
// Runs of the same seed are pairs. A claim on a difference looks at the differences of the pairs, one on a ratio at the
// differences of their logarithms; it holds where Student's interval of their mean (models/evidence/interval.h) lies beyond
// what is claimed, does not hold where it lies on the other side, and otherwise cannot be told. Two equal distributions are
// called different in less than one study of twenty, and five pairs show a difference of two deviations of the pairs'
// differences in more than eight of ten (tests/models/evidence/verdict_test.cpp). A bootstrap interval stands beside it.
//
// Which is faster: the updates until each run of a pair is as good as the worse of their two bests, which both reach.
// Where the first is the better one that is the other's best, as the paper counts.
//
// A run that diverged has no number, and leaving it out would flatter its variant. Where some did, only their count can
// decide, by Fisher's exact test at 95%. One that finished without a finite number of the metric did not diverge, and with
// such runs nothing can be told.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/evidence/interval.h"
#include "models/evidence/measured_run.h"

namespace lamina {

/// The two variants' runs with one seed. Nothing in place of a number: the run diverged; NaN: it finished
/// without one.
struct SeedPair {
  std::int64_t seed = 0;
  std::optional<double> subject = {}, other = {};
};

struct Verdict {
  enum Answer { holds, does_not_hold, cannot_be_told };
  Claim claim = {};
  Answer answer = cannot_be_told;
  std::string subject = {}, other = {};  ///< names of the variants
  std::string chosen = {};               ///< how they were chosen from several; empty when there was one each
  std::vector<SeedPair> pairs = {};
  /// Mean difference, or mean ratio (of the geometric means), in the claimed direction. It and its intervals have ten
  /// digits, in which builds agree.
  double number = 0;
  Interval student = {}, bootstrap = {};
  std::string why = {};   ///< where there is no number: one clause
  std::string data = {};  ///< what the runs were trained on

  bool has_number() const { return why.empty(); }
};

/// "holds", "does not hold", "cannot be told".
std::string name_of(Verdict::Answer answer);

/// The claim in words: its own, or "test_error (best) is lower in layer than in none".
std::string words_of(const Verdict& verdict);

/// The verdict from the pairs alone; the names of the two variants are for its words.
Verdict judge(const Claim& claim, const std::vector<SeedPair>& pairs, const std::string& subject = "the one",
              const std::string& other = "the other");

/// The verdict on a claim of a study.
Verdict judge(const Claim& claim, const Study& study, const std::vector<MeasuredRun>& runs);

/// All in one or two sentences: the answer, the number with its intervals, n, the data.
std::string sentence(const Verdict& verdict);

/// What these runs were trained on, in one line.
std::string data_of(const std::vector<MeasuredRun>& runs);

}  // namespace lamina
