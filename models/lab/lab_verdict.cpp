#include "models/lab/lab_verdict.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "models/run/metrics.h"

namespace lamina::lab {

namespace {

std::string shown(double number) { return formatted("%.3g", number); }

double least_of(const LabClaim& claim) { return claim.ratio && claim.least == 0 ? 1 : claim.least; }

bool is_so(const LabClaim& claim, const SeedPair& pair) {
  if (!pair.subject || !pair.other) return false;
  const double above = claim.direction == Claim::higher ? *pair.subject : *pair.other;
  const double below = claim.direction == Claim::higher ? *pair.other : *pair.subject;
  return claim.ratio ? above > least_of(claim) * below : above - below > least_of(claim);
}

/// What is exact must be so in every seed.
void judge_each(const LabClaim& claim, Verdict& verdict) {
  const size_t n = verdict.pairs.size();
  const auto so = static_cast<size_t>(
      std::ranges::count_if(verdict.pairs, [&](const SeedPair& pair) { return is_so(claim, pair); }));
  verdict.why = text("in ", so, " of ", n, " seeds");
  std::vector<double> numbers;
  for (const SeedPair& pair : verdict.pairs)
    if (pair.subject) numbers.push_back(*pair.subject);
  if (!numbers.empty()) {
    const auto [low, high] = std::ranges::minmax(numbers);
    verdict.why += text(" (", verdict.subject, ": ", shown(low), " to ", shown(high), ")");
  }
  verdict.answer = n == 0    ? Verdict::cannot_be_told
                   : so == n ? Verdict::holds
                   : so == 0 ? Verdict::does_not_hold
                             : Verdict::cannot_be_told;
}

}  // namespace

std::string name_of(const LabNumber& number) {
  if (number.is) return shown(*number.is);
  switch (number.over) {
    case LabNumber::last:
      return number.variant;
    case LabNumber::first:
      return number.variant + ", first";
    case LabNumber::lowest:
      return number.variant + ", lowest";
    case LabNumber::highest:
      return number.variant + ", highest";
    case LabNumber::mean:
      return number.variant + ", mean";
    case LabNumber::at_x:
      return number.variant + " at " + shown(number.x);
  }
  return {};
}

Verdict judge(const LabClaim& claim, const Rows& rows) {
  const Claim as_study{.words = claim.words,
                       .metric = claim.subject.quantity,
                       .direction = claim.direction,
                       .for_the_better = claim.for_the_better,
                       .ratio = claim.ratio,
                       .least = least_of(claim),
                       .without = claim.without};
  std::vector<SeedPair> pairs;
  for (const std::int64_t seed : seeds_of(rows))
    pairs.push_back({.seed = seed,
                     .subject = number_of(rows, seed, claim.subject),
                     .other = number_of(rows, seed, claim.other)});
  std::string subject = name_of(claim.subject), other = name_of(claim.other);
  if (subject == other) {  // two quantities of one variant
    subject += ", " + claim.subject.quantity;
    other += ", " + claim.other.quantity;
  }
  if (!claim.in_each_seed) return lamina::judge(as_study, pairs, subject, other);
  Verdict verdict{.claim = as_study, .subject = subject, .other = other, .pairs = pairs};
  judge_each(claim, verdict);
  return verdict;
}

std::vector<Verdict> verdicts_of(const Lab& lab, const Rows& rows) {
  std::vector<Verdict> verdicts;
  for (const LabClaim& claim : lab.claims) verdicts.push_back(judge(claim, rows));
  return verdicts;
}

}  // namespace lamina::lab
