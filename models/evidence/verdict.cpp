#include "models/evidence/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "core/error.h"
#include "models/evidence/choice.h"
#include "models/run/metrics.h"

namespace lamina {

namespace {

constexpr size_t fewest_pairs = 3;  ///< two numbers say too little of how numbers vary
constexpr double significant = 0.05;

std::string shown(double number) { return formatted("%.3g", number); }

/// What builds agree on that round differently, as those with and without fused multiply-add do.
double ten_digits(double number) { return std::strtod(formatted("%.10g", number).c_str(), nullptr); }

/// Whether the run finished, but without a finite number.
bool is_unknown(const std::optional<double>& number) { return number && !std::isfinite(*number); }

/// In the claimed direction: positive where the subject does what is claimed. For ratios the logarithm.
double effect(const Claim& claim, const SeedPair& pair) {
  const double subject = claim.ratio ? std::log(*pair.subject) : *pair.subject;
  const double other = claim.ratio ? std::log(*pair.other) : *pair.other;
  return claim.direction == Claim::higher ? subject - other : other - subject;
}

/// What the rounding of numbers of this size can make of differences that are equal.
double rounding_of(const Claim& claim, const std::vector<SeedPair>& pairs) {
  double largest = claim.ratio ? 1 : 0;
  for (const SeedPair& pair : pairs)
    for (const double number : {*pair.subject, *pair.other})
      largest = std::max(largest, std::abs(claim.ratio ? std::log(number) : number));
  return 1e-12 * largest;
}

/// Some runs have no number, and so only their count can decide. A run without one is the worst.
void judge_by_count(Verdict& verdict) {
  const size_t n = verdict.pairs.size();
  const auto without = [&](auto member) {
    return static_cast<size_t>(
        std::ranges::count_if(verdict.pairs, [&](const SeedPair& pair) { return !(pair.*member); }));
  };
  const size_t subject = without(&SeedPair::subject), other = without(&SeedPair::other);
  const double probability = fisher_probability(subject, n, other, n);
  verdict.why =
      text(subject, " of ", n, " runs of ", verdict.subject, " and ", other, " of ", n, " of ", verdict.other,
           ' ', verdict.claim.without, " (Fisher's exact test: p = ", shown(probability), ")");
  if (probability >= significant) return;
  verdict.answer =
      (subject < other) == verdict.claim.for_the_better ? Verdict::holds : Verdict::does_not_hold;
}

void judge_by_interval(Verdict& verdict) {
  const Claim& claim = verdict.claim;
  const size_t n = verdict.pairs.size();
  std::vector<double> effects;
  for (const SeedPair& pair : verdict.pairs) effects.push_back(effect(claim, pair));
  if (!std::ranges::all_of(effects, [](double value) { return std::isfinite(value); })) {
    verdict.why = "a ratio needs numbers above 0";
    return;
  }
  const Moments moments = moments_of(effects);
  if (moments.deviation <= rounding_of(claim, verdict.pairs)) {
    verdict.why = text("all ", n, " differences are equal, so that nothing is known of how they vary");
    return;
  }
  const Interval student = student_interval(moments), bootstrap = bootstrap_interval(effects);
  const double least = claim.ratio ? std::log(claim.least) : claim.least;
  if (student.low > least) verdict.answer = Verdict::holds;
  if (student.high < least) verdict.answer = Verdict::does_not_hold;
  const auto back = [&](double value) { return ten_digits(claim.ratio ? std::exp(value) : value); };
  verdict.number = back(moments.mean);
  verdict.student = {back(student.low), back(student.high)};
  verdict.bootstrap = {back(bootstrap.low), back(bootstrap.high)};
  for (const Interval& shown : {verdict.student, verdict.bootstrap})
    if (!std::isfinite(shown.low) || !std::isfinite(shown.high))
      verdict.why = text("the mean ", claim.ratio ? "ratio" : "difference",
                         " or an end of its interval is beyond the largest number, 1.8e308");
}

/// The number of a run that finished, NaN where it has none that is finite; DataError when it has no such metric, which no
/// seed will change.
std::optional<double> number_of(const MeasuredRun& run, const Claim& claim, const Study& study) {
  if (run.end.outcome != RunEnd::finished) return {};
  require_metric(study, run, claim.metric, "claims");
  if (!claim.take.other.empty()) require_metric(study, run, claim.take.other, "take");
  return taken(run, claim.metric, claim.take, study).value_or(std::nan(""));
}

/// The updates after which each run is as good as the worse of their bests. The best of one of them alone would be a goal
/// that this one reaches always and an equal one in half of all pairs. Beside a run that has no best it is all that is left.
void count_updates(SeedPair& pair, const Claim& claim, const Study& study, const MeasuredRun& subject,
                   const MeasuredRun& other) {
  const std::pair<std::optional<double>*, const MeasuredRun*> both[] = {{&pair.subject, &subject},
                                                                        {&pair.other, &other}};
  const bool highest = study.best_is_highest(claim.metric);
  double goal = highest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  for (const auto& [best, run] : both)
    if (*best && !is_unknown(*best)) goal = highest ? std::min(goal, **best) : std::max(goal, **best);
  for (const auto& [best, run] : both)
    if (*best && !is_unknown(*best)) *best = updates_to_reach(*run, claim.metric, goal, study);
}

SeedPair pair_of(const Claim& claim, const Study& study, const MeasuredRun& subject,
                 const MeasuredRun& other) {
  Claim what = claim;
  if (claim.direction == Claim::faster) what.take = {.kind = Take::Kind::best};
  SeedPair pair{.seed = subject.run.seed,
                .subject = number_of(subject, what, study),
                .other = number_of(other, what, study)};
  if (claim.direction == Claim::faster) count_updates(pair, claim, study, subject, other);
  return pair;
}

/// Built-in data are drawn anew from each seed, and then say so: "(seed 3)" or "(seed 3, 5 events)".
std::string without_seeds(std::string data) {
  const std::string before = " (seed ";
  while (true) {
    const size_t begin = data.find(before);
    if (begin == std::string::npos) return data;
    const size_t end = data.find_first_not_of("0123456789", begin + before.size());
    if (end == std::string::npos) return data;
    if (data.compare(end, 2, ", ") == 0)
      data.replace(begin, end + 2 - begin, " (");
    else
      data.erase(begin, end + 1 - begin);
  }
}

}  // namespace

std::string name_of(Verdict::Answer answer) {
  switch (answer) {
    case Verdict::holds:
      return "holds";
    case Verdict::does_not_hold:
      return "does not hold";
    case Verdict::cannot_be_told:
      return "cannot be told";
  }
  return {};
}

std::string words_of(const Verdict& verdict) {
  const Claim& claim = verdict.claim;
  if (!claim.words.empty()) return claim.words;
  if (claim.direction == Claim::faster)
    return text(verdict.subject, " comes to the best ", claim.metric, " that both it and ", verdict.other,
                " reach after fewer updates",
                claim.least == 1 ? "" : text(", by a factor of ", shown(claim.least), " at least"));
  const std::string least = claim.ratio        ? text(", by a factor of ", shown(claim.least), " at least")
                            : claim.least != 0 ? text(", by ", shown(claim.least), " at least")
                                               : "";
  return text(claim.metric, " (", claim.take.words(), ") is ",
              claim.direction == Claim::lower ? "lower" : "higher", " in ", verdict.subject, " than in ",
              verdict.other, least);
}

Verdict judge(const Claim& claim, const std::vector<SeedPair>& pairs, const std::string& subject,
              const std::string& other) {
  Verdict verdict{.claim = claim, .subject = subject, .other = other, .pairs = pairs};
  if (pairs.size() < fewest_pairs)
    verdict.why = text("there are ", pairs.size(), " pairs of runs, and ", fewest_pairs, " are needed");
  else if (const auto unknown = std::ranges::count_if(pairs, [](const SeedPair& pair) {
             return is_unknown(pair.subject) || is_unknown(pair.other);
           }))
    verdict.why = text("in ", unknown, " of ", pairs.size(),
                       " pairs a run finished without a finite number, which says nothing of who is better");
  else if (!std::ranges::all_of(pairs, [](const SeedPair& pair) { return pair.subject && pair.other; }))
    judge_by_count(verdict);
  else
    judge_by_interval(verdict);
  return verdict;
}

Verdict judge(const Claim& claim, const Study& study, const std::vector<MeasuredRun>& runs) {
  const std::vector<size_t> subjects = study.matching(claim.subject), others = study.matching(claim.other);
  const size_t subject = chosen_of(subjects, study, runs), other = chosen_of(others, study, runs);
  std::vector<SeedPair> pairs;
  std::vector<MeasuredRun> used;
  for (const MeasuredRun* a : ended_runs(runs, subject))
    for (const MeasuredRun* b : ended_runs(runs, other))
      if (a->run.seed == b->run.seed) {
        pairs.push_back(pair_of(claim, study, *a, *b));
        used.push_back(*a);
        used.push_back(*b);
      }
  Verdict verdict = judge(claim, pairs, study.combinations[subject].name, study.combinations[other].name);
  if (subjects.size() > 1 || others.size() > 1)
    verdict.chosen = text("chosen by ", study.choose,
                          study.choose_seeds > 0 ? text(" with the first ", study.choose_seeds,
                                                        study.choose_seeds == 1 ? " seed" : " seeds")
                                                 : "",
                          " from ", subjects.size(), " and ", others.size(), " variants",
                          has_chosen(study, runs) ? "" : ", not all of whose runs have ended");
  verdict.data = data_of(used);
  return verdict;
}

std::string sentence(const Verdict& verdict) {
  const Claim& claim = verdict.claim;
  const auto from_to = [](const Interval& interval) {
    return shown(interval.low) + " to " + shown(interval.high);
  };
  std::string number = verdict.why;
  if (verdict.has_number())
    number = text(claim.ratio ? "mean ratio " : "mean difference ", shown(verdict.number), ", ",
                  100 * verdict_confidence, "% interval ", from_to(verdict.student),
                  " (bootstrap at 95%: ", from_to(verdict.bootstrap), ")");
  return text(name_of(verdict.answer), ": ", number, ", n = ", verdict.pairs.size(), " seeds",
              verdict.chosen.empty() ? "" : ", " + verdict.chosen,
              verdict.data.empty() ? "" : "; data: " + verdict.data);
}

std::string data_of(const std::vector<MeasuredRun>& runs) {
  std::set<std::string> with, without;
  std::vector<std::string> order;
  for (const MeasuredRun& run : runs) {
    if (run.data.empty()) continue;
    with.insert(run.data);
    if (without.insert(without_seeds(run.data)).second) order.push_back(without_seeds(run.data));
  }
  std::string all;
  for (const std::string& each : order) all += (all.empty() ? "" : "; and ") + each;
  if (with.size() == 1) return *with.begin();
  return with.size() > without.size() ? all + "; other ones with each seed" : all;
}

}  // namespace lamina
