#include "models/evidence/choice.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "models/evidence/verdict.h"

using namespace lamina;

namespace {

/// Two norms at two rates with four seeds, of which `choose_seeds` choose.
Study study_with(const std::string& choose_seeds) {
  return study_from("s.json", R"({"experiment": "mnist", "seeds": [1, 2, 3, 4], "choose": "valid",)" +
                                  choose_seeds + R"("variants": {"norm": ["none", "layer"], "lr": [1, 2]},
      "claims": [{"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none", "lr": 1}}]})");
}
const Study first_two = study_with(R"("choose_seeds": 2,)");

/// As in a folder where nothing is trained yet.
std::vector<MeasuredRun> waiting(const Study& study) {
  std::vector<MeasuredRun> all;
  for (const StudyRun& run : study.runs()) all.push_back({.run = run, .end = {}});
  return all;
}

/// It ends with these numbers.
void end(MeasuredRun& run, double valid, double loss) {
  run.end.outcome = RunEnd::finished;
  run.curves = {.columns = {"epoch", "step", "valid", "loss"}, .rows = {{1, 10, valid, loss}}};
}

std::vector<std::string> names(const std::vector<StudyRun>& runs) {
  std::vector<std::string> all;
  for (const StudyRun& run : runs) all.push_back(run.name);
  return all;
}

/// Layer norm is best on validation at rate 2 with the first two seeds: runs 0 to 7.
std::vector<MeasuredRun> chosen() {
  std::vector<MeasuredRun> runs = waiting(first_two);
  for (size_t i = 0; i < 8; ++i)
    end(runs[i], runs[i].run.combination == 3 ? 0.1 : 0.2, runs[i].run.combination == 3 ? 1 : 2);
  return runs;
}

}  // namespace

TEST_CASE("choice: the first seeds train everything, the others what was chosen and what a claim names") {
  std::vector<MeasuredRun> runs = chosen();
  runs[7].end.outcome = RunEnd::waiting;
  CHECK(runs_to_train(first_two, runs).size() == 8);
  CHECK(!has_chosen(first_two, runs));

  runs = chosen();
  CHECK(compared_by_claims(first_two, runs) == std::vector<size_t>{0, 3});
  const auto all = names(runs_to_train(first_two, runs));
  CHECK(std::vector(all.begin() + 8, all.end()) ==
        std::vector<std::string>{"none-lr1-seed3", "layer-lr2-seed3", "none-lr1-seed4", "layer-lr2-seed4"});
  CHECK(without_unwanted(first_two, runs).size() == 12);
}

TEST_CASE("choice: seeds that do not choose change no choice, and are judged all the same") {
  std::vector<MeasuredRun> runs = chosen();
  for (const size_t i : {8u, 11u, 12u, 15u})
    end(runs[i], 9, runs[i].run.combination == 3 ? 1.1 + 0.1 * double(i) : 4);
  end(runs[14], 0,
      0);  // layer at rate 1, trained before the study chose with two seeds: kept, and not compared
  const auto kept = without_unwanted(first_two, runs);
  CHECK(kept.size() == 13);
  const Verdict verdict = judge(first_two.claims[0], first_two, kept);
  CHECK(verdict.subject == "layer-lr2");
  CHECK(verdict.pairs.size() == 4);
  CHECK(sentence(verdict).find("chosen by valid with the first 2 seeds from 2 and 1 variants") !=
        std::string::npos);
}

TEST_CASE("choice: a run that failed leaves the choice open, one that diverged does not") {
  std::vector<MeasuredRun> runs = chosen();
  const auto chosen_in_words = [&] { return judge(first_two.claims[0], first_two, runs).chosen; };
  CHECK(chosen_in_words() == "chosen by valid with the first 2 seeds from 2 and 1 variants");
  runs[3].end.outcome = RunEnd::failed;
  CHECK(runs_to_train(first_two, runs).size() == 8);
  CHECK(chosen_in_words() ==
        "chosen by valid with the first 2 seeds from 2 and 1 variants, not all of whose runs have ended");
  runs[3].end.outcome = RunEnd::diverged;  // one of two, though the other is the best of all
  CHECK(compared_by_claims(first_two, runs) == std::vector<size_t>{0, 2});
  runs[7].end.outcome = RunEnd::diverged;
  CHECK(compared_by_claims(first_two, runs) == std::vector<size_t>{0, 2});
}

TEST_CASE("choice: the highest where the study says so, and the first of equals") {
  const Study highest = study_with(R"("higher_is_better": "valid", "choose_seeds": 2,)");
  std::vector<MeasuredRun> runs = chosen();
  for (const size_t i : {2u, 6u}) end(runs[i], 0.3, 2);
  CHECK(compared_by_claims(first_two, runs) == std::vector<size_t>{0, 3});
  CHECK(compared_by_claims(highest, runs) == std::vector<size_t>{0, 2});
  for (const size_t i : {3u, 7u}) end(runs[i], 0.3, 2);
  CHECK(compared_by_claims(first_two, runs) == std::vector<size_t>{0, 2});
  // 0.2725 both, of which the second has another last bit.
  end(runs[2], 0.28, 2);
  end(runs[6], 0.265, 2);
  end(runs[3], 0.282, 2);
  end(runs[7], 0.263, 2);
  CHECK(compared_by_claims(first_two, runs) == std::vector<size_t>{0, 2});
}

TEST_CASE("choice: a metric that a variant does not have chooses none of it") {
  std::vector<MeasuredRun> runs = chosen();
  for (const size_t i : {0u, 1u, 4u, 5u})
    runs[i].curves.columns[2] = "other";  // a claim names one rate of norm none
  CHECK(compared_by_claims(first_two, runs) == std::vector<size_t>{0, 3});
  runs[2].curves.columns[2] = "other";
  CHECK_THROWS_WITH_AS(
      compared_by_claims(first_two, runs),
      "s.json: 'choose' names 'valid', and layer-lr1-seed1 has only other,loss; name one of them", DataError);
}

TEST_CASE("choice: without choose_seeds every seed trains everything") {
  const Study study = study_with("");
  CHECK(runs_to_train(study, waiting(study)).size() == 16);
  CHECK(without_unwanted(study, waiting(study)).size() == 16);
}
