#include "models/evidence/verdict.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "core/error.h"
#include "core/math/random.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

using Draw = std::function<double(Random&)>;

double gaussian(Random& random) { return static_cast<double>(random.normal()); }
double skewed(Random& random) { return -std::log(1 - static_cast<double>(random.uniform())); }

/// How many of 1000 studies with five seeds get this answer, whose runs are independent draws.
size_t answered(Verdict::Answer answer, const Claim& claim, const Draw& subject, const Draw& other) {
  Random random(3);
  size_t count = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<SeedPair> pairs;
    for (int seed = 0; seed < 5; ++seed)
      pairs.push_back({.seed = seed, .subject = subject(random), .other = other(random)});
    count += judge(claim, pairs).answer == answer;
  }
  return count;
}

std::vector<SeedPair> pairs_of(const std::vector<std::optional<double>>& subject,
                               const std::vector<std::optional<double>>& other) {
  std::vector<SeedPair> pairs;
  for (size_t i = 0; i < subject.size(); ++i)
    pairs.push_back({.seed = static_cast<std::int64_t>(i), .subject = subject[i], .other = other[i]});
  return pairs;
}

const std::optional<double> none;
const Claim lower{.metric = "loss"};

/// Runs with these last values of a metric `loss` after 10 and 20 updates, one a seed.
std::vector<MeasuredRun> runs_of(size_t combination, const std::vector<double>& at_10,
                                 const std::vector<double>& at_20) {
  std::vector<MeasuredRun> runs;
  for (size_t i = 0; i < at_10.size(); ++i) {
    runs.push_back({.run = {.combination = combination, .seed = static_cast<std::int64_t>(i + 1)},
                    .end = {.outcome = RunEnd::finished}});
    runs.back().curves = {.columns = {"epoch", "step", "loss"},
                          .rows = {{1, 10, at_10[i]}, {2, 20, at_20[i]}}};
    runs.back().data = text("built-in digits (seed ", i + 1, "): 100 cases; trained on 50 of them (seed ",
                            i + 1, "); preset small");
  }
  return runs;
}

std::vector<MeasuredRun> operator+(std::vector<MeasuredRun> a, const std::vector<MeasuredRun>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Study study_with(const std::string& claim, const std::string& more = "") {
  return study_from(
      "s.json", R"({"experiment": "mnist", "variants": {"norm": ["none", "layer"]}, "seeds": [1, 2, 3, 4],)" +
                    more + R"( "claims": [)" + claim + "]}");
}

}  // namespace

TEST_CASE("verdict: of two equal distributions nothing can be told in 950 of 1000 studies at least" *
          doctest::test_suite("slow")) {
  CHECK(answered(Verdict::cannot_be_told, lower, gaussian, gaussian) >= 950);
  CHECK(answered(Verdict::cannot_be_told, lower, skewed, skewed) >= 950);
  const Draw positive = [](Random& random) { return std::exp(gaussian(random)); };
  CHECK(answered(Verdict::cannot_be_told, {.metric = "loss", .ratio = true, .least = 1}, positive,
                 positive) >= 950);
}

TEST_CASE(
    "verdict: five seeds show a difference of two deviations of the pairs' differences in 800 of 1000 "
    "studies" *
    doctest::test_suite("slow")) {
  const double deviation = std::sqrt(2.0);  // of the difference of two independent runs
  const Draw worse = [&](Random& random) { return gaussian(random) + 2 * deviation; };
  CHECK(answered(Verdict::holds, lower, gaussian, worse) >= 800);
  CHECK(answered(Verdict::does_not_hold, lower, worse, gaussian) >= 800);
  CHECK(answered(Verdict::does_not_hold, lower, gaussian, worse) == 0);
}

TEST_CASE(
    "verdict: two deviations of single runs are seen in six studies of ten, where seeds have nothing in "
    "common" *
    doctest::test_suite("slow")) {
  const Draw worse = [](Random& random) { return gaussian(random) + 2; };
  CHECK(answered(Verdict::holds, lower, gaussian, worse) == doctest::Approx(603).epsilon(0.07));
}

TEST_CASE("verdict: the t-test without pairs sees them in less than 80 of 100, and has 5 of 100 wrong") {
  Random random(11);
  const auto seen = [&](double shift) {
    int count = 0;
    for (int trial = 0; trial < 10'000; ++trial) {
      std::vector<double> ours, others;
      for (int seed = 0; seed < 5; ++seed) {
        ours.push_back(gaussian(random));
        others.push_back(gaussian(random) + shift);
      }
      const Moments a = moments_of(ours), b = moments_of(others);
      const double error = std::hypot(a.deviation, b.deviation) / std::sqrt(5.0);
      count += std::abs(b.mean - a.mean) > student_t(8, 0.95) * error;
    }
    return count / 10'000.0;
  };
  CHECK(seen(0) == doctest::Approx(0.05).epsilon(0.1).scale(0));
  CHECK(seen(2) == doctest::Approx(0.785).epsilon(0.015).scale(0));
}

TEST_CASE("verdict: pairs see what single runs hide") {
  Random random(5);
  std::vector<SeedPair> pairs;
  for (int seed = 0; seed < 5; ++seed) {
    const double luck = 10 * gaussian(random);  // of a seed, ten times what tells the variants apart
    pairs.push_back({.seed = seed, .subject = luck, .other = luck + 1 + 0.2 * gaussian(random)});
  }
  CHECK(judge(lower, pairs).answer == Verdict::holds);
}

TEST_CASE("verdict: the least difference, ratio and direction count") {
  const auto pairs = pairs_of({1.0, 1.1, 0.9, 1.0}, {2.0, 2.2, 1.9, 2.1});
  CHECK(judge({.least = 0.5}, pairs).answer == Verdict::holds);
  CHECK(judge({.least = 1.05}, pairs).answer == Verdict::cannot_be_told);
  CHECK(judge({.least = 1.5}, pairs).answer == Verdict::does_not_hold);
  CHECK(judge({.direction = Claim::higher}, pairs).answer == Verdict::does_not_hold);
  CHECK(judge({.ratio = true, .least = 1.8}, pairs).answer == Verdict::holds);
  CHECK(judge({.ratio = true, .least = 3}, pairs).answer == Verdict::does_not_hold);
  const Verdict ratio = judge({.ratio = true, .least = 1}, pairs);
  CHECK(ratio.number == doctest::Approx(std::pow(2.0 / 1.0 * 2.2 / 1.1 * 1.9 / 0.9 * 2.1, 0.25)));
  CHECK(ratio.student.low < ratio.number);
  CHECK(ratio.student.high > ratio.number);
}

TEST_CASE("verdict: too little to tell") {
  const auto why = [](const Verdict& verdict) {
    CHECK(verdict.answer == Verdict::cannot_be_told);
    return verdict.why;
  };
  CHECK(why(judge(lower, pairs_of({1, 1}, {2, 3}))) == "there are 2 pairs of runs, and 3 are needed");
  CHECK(why(judge(lower, {})) == "there are 0 pairs of runs, and 3 are needed");
  CHECK(why(judge(lower, pairs_of({1, 2, 3}, {2, 3, 4}))).starts_with("all 3 differences are equal"));
  // 0.1 in every pair, but for the last bit.
  CHECK(why(judge(lower, pairs_of({0.2, 0.15, 0.3, 0.25, 0.5}, {0.3, 0.25, 0.4, 0.35, 0.6})))
            .starts_with("all 5 differences are equal"));
  CHECK(judge(lower, pairs_of({1, 2, 3}, {2, 3 + 1e-9, 4 - 1e-9})).answer == Verdict::holds);
  CHECK(why(judge({.ratio = true, .least = 1}, pairs_of({0.1, 0.3, 0.7}, {0.2, 0.6, 1.4})))
            .starts_with("all 3 differences are equal"));
  CHECK(why(judge({.ratio = true, .least = 1}, pairs_of({1, 0, 3}, {2, 3, 4}))) ==
        "a ratio needs numbers above 0");
}

TEST_CASE("verdict: a ratio that is no finite number is not printed as one, but decides") {
  const Claim ratio{.metric = "loss", .ratio = true, .least = 1};
  const Verdict verdict = judge(ratio, pairs_of({1e-20, 1e-20, 2e-20}, {1e300, 2e300, 3e300}));
  CHECK(!verdict.has_number());  // in verdicts.json it would be null, and the report calls that damaged
  CHECK(sentence(verdict).starts_with("holds: the mean ratio or an end of its interval is beyond"));
}

TEST_CASE("verdict: runs that diverged count, and are not left out") {
  CHECK(judge(lower, pairs_of({1, 2, 3, 4}, {none, none, none, none})).answer == Verdict::holds);
  CHECK(judge(lower, pairs_of({none, none, none, none}, {1, 2, 3, 4})).answer == Verdict::does_not_hold);
  CHECK(judge(lower, pairs_of({1, 2, 3}, {none, none, none})).answer == Verdict::cannot_be_told);
  const Verdict some = judge(lower, pairs_of({1, 2, 3, 4}, {9, 9.1, none, 9}), "A", "B");
  CHECK(some.answer == Verdict::cannot_be_told);
  CHECK(some.why == "0 of 4 runs of A and 1 of 4 of B diverged (Fisher's exact test: p = 1)");
  // That a bad thing is higher in what diverged holds.
  Claim higher_loss{.direction = Claim::higher, .for_the_better = false};
  CHECK(judge(higher_loss, pairs_of({none, none, none, none}, {1, 2, 3, 4})).answer == Verdict::holds);
}

TEST_CASE("verdict: a run that finished without a finite number did not diverge") {
  const double unknown = std::nan("");
  const Verdict all = judge(lower, pairs_of({1, 2, 3, 4}, {unknown, unknown, unknown, unknown}));
  CHECK(all.answer == Verdict::cannot_be_told);
  CHECK(all.why ==
        "in 4 of 4 pairs a run finished without a finite number, which says nothing of who is better");
  CHECK(judge(lower, pairs_of({1, 2, 3, 4, unknown}, {none, none, none, none, 1}))
            .why.starts_with("in 1 of 5"));
  const Study study =
      study_with(R"({"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none"}})");
  const Study faster =
      study_with(R"({"metric": "loss", "faster": {"norm": "layer"}, "than": {"norm": "none"}})");
  const std::vector<double> no(4, unknown), good{1, 1, 1, 1};
  const auto runs = runs_of(0, no, no) + runs_of(1, {2, 2, 2, 2}, good);
  CHECK(judge(study.claims[0], study, runs).answer == Verdict::cannot_be_told);
  CHECK(judge(faster.claims[0], faster, runs).answer == Verdict::cannot_be_told);
}

TEST_CASE("verdict: of a study, with its data and n") {
  const Study study =
      study_with(R"({"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none"}})");
  const auto runs = runs_of(0, {3, 3, 3, 3}, {2, 2.1, 2.2, 2}) + runs_of(1, {2, 2, 2, 2}, {1, 1, 1, 1.1});
  const Verdict verdict = judge(study.claims[0], study, runs);
  CHECK(verdict.answer == Verdict::holds);
  CHECK(words_of(verdict) == "loss (last) is lower in layer than in none");
  CHECK(verdict.number == doctest::Approx(1.05));
  CHECK(sentence(verdict) ==
        "holds: mean difference 1.05, 96% interval 0.825 to 1.27 (bootstrap at 95%: 0.95 to 1.15), n = 4 "
        "seeds; data: "
        "built-in digits: 100 cases; trained on 50 of them; preset small; other ones with each seed");
}

TEST_CASE("verdict: a failed run is no pair, one that diverged is") {
  const Study study =
      study_with(R"({"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none"}})");
  auto runs = runs_of(0, {3, 3, 3, 3}, {2, 2.1, 2.2, 2}) + runs_of(1, {2, 2, 2, 2}, {1, 1, 1, 1.1});
  runs[2].end.outcome = RunEnd::failed;
  CHECK(judge(study.claims[0], study, runs).pairs.size() == 3);
  CHECK(judge(study.claims[0], study, runs).answer == Verdict::holds);
  runs[2].end.outcome = RunEnd::diverged;
  CHECK(judge(study.claims[0], study, runs).pairs.size() == 4);
  CHECK(judge(study.claims[0], study, runs).answer == Verdict::cannot_be_told);
}

TEST_CASE("verdict: updates until the best that both reach") {
  const Study study =
      study_with(R"({"metric": "loss", "faster": {"norm": "layer"}, "than": {"norm": "none"}})");
  const std::vector<double> bad{3, 3, 3, 3}, good{2, 2, 2, 2};
  Verdict verdict = judge(study.claims[0], study, runs_of(0, bad, good) + runs_of(1, {2, 2, 2, 3}, good));
  CHECK(verdict.pairs[0].subject == 10);
  CHECK(verdict.pairs[0].other == 20);
  CHECK(verdict.pairs[3].subject == 20);
  CHECK(verdict.number == doctest::Approx(std::pow(2, 0.75)));
  CHECK(words_of(verdict) == "layer comes to the best loss that both it and none reach after fewer updates");
  // The one that never is as good as the other's best is compared at its own.
  verdict = judge(study.claims[0], study, runs_of(0, {3, 3, 3, 5}, good) + runs_of(1, {5, 5, 5, 3}, bad));
  CHECK(verdict.pairs[0].subject == 20);
  CHECK(verdict.pairs[0].other == 10);
  CHECK(verdict.pairs[3].subject == 10);
  CHECK(verdict.pairs[3].other == 20);
  auto runs = runs_of(0, bad, good) + runs_of(1, bad, good);
  for (size_t i = 0; i < 4; ++i) runs[i].end.outcome = RunEnd::diverged;
  CHECK(judge(study.claims[0], study, runs).why ==
        "0 of 4 runs of layer and 4 of 4 of none diverged (Fisher's exact test: p = 0.0286)");
  // Updates also where the other diverged, and not the metric.
  CHECK(judge(study.claims[0], study, runs).pairs[0].subject == 20);
}

TEST_CASE("verdict: updates until the best that both reach of what is better when it is higher") {
  const Study study =
      study_with(R"({"metric": "loss", "faster": {"norm": "layer"}, "than": {"norm": "none"}})",
                 R"("higher_is_better": "loss",)");
  const Verdict verdict =
      judge(study.claims[0], study,
            runs_of(0, {1, 1, 1, 1}, {2, 2, 2, 2}) + runs_of(1, {3, 3, 3, 1}, {4, 4, 4, 3}));
  CHECK(verdict.pairs[0].subject == 10);
  CHECK(verdict.pairs[0].other == 20);
  CHECK(verdict.pairs[3].subject == 20);
  CHECK(verdict.number == doctest::Approx(std::pow(2, 0.75)));
}

namespace {

/// A run of 30 evaluations, whose loss falls as fast as `rate` says, with noise of the run and of each evaluation.
MeasuredRun learning_run(size_t combination, std::int64_t seed, double rate, Random& random) {
  MeasuredRun run{.run = {.combination = combination, .seed = seed}, .end = {.outcome = RunEnd::finished}};
  run.curves.columns = {"evaluation", "step", "loss"};
  const double luck = 0.1 * gaussian(random);
  for (int i = 1; i <= 30; ++i)
    run.curves.rows.push_back({double(i), 100.0 * i, std::exp(-rate * i) + luck + 0.05 * gaussian(random)});
  return run;
}

/// How many of 2000 studies, of five seeds each, say so that layer is faster.
size_t answered_of_curves(Verdict::Answer answer, double rate_of_layer) {
  const Study study = study_from("s.json", R"({"experiment": "mnist", "variants": {"norm": ["none", "layer"]},
      "seeds": [1, 2, 3, 4, 5], "claims": [{"metric": "loss", "faster": {"norm": "layer"}, "than": {"norm": "none"}}]})");
  Random random(7);
  size_t count = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<MeasuredRun> runs;
    for (const std::int64_t seed : study.seeds) {
      runs.push_back(learning_run(0, seed, 0.1, random));
      runs.push_back(learning_run(1, seed, rate_of_layer, random));
    }
    count += judge(study.claims[0], study, runs).answer == answer;
  }
  return count;
}

}  // namespace

TEST_CASE("verdict: of equal curves neither is called faster in 1900 of 2000 studies at least" *
          doctest::test_suite("slow")) {
  CHECK(answered_of_curves(Verdict::cannot_be_told, 0.1) >= 1900);
  CHECK(answered_of_curves(Verdict::holds, 0.3) > 600);  // three times as fast, in a third of them
  CHECK(answered_of_curves(Verdict::does_not_hold, 0.3) == 0);
}

TEST_CASE("verdict: of several variants the one is judged that is best on another metric") {
  Study study = study_from("s.json", R"({"experiment": "mnist", "choose": "loss",
      "variants": {"norm": ["none", "layer"], "lr": [0.1, 0.01]}, "seeds": [1, 2, 3, 4],
      "claims": [{"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none"}}]})");
  const std::vector<double> three{3, 3, 3, 3}, two{2, 2.1, 2.2, 2}, one{1, 1, 1, 1.1};
  auto runs =
      runs_of(0, three, three) + runs_of(1, three, two) + runs_of(2, three, one) + runs_of(3, three, two);
  Verdict verdict = judge(study.claims[0], study, runs);
  CHECK(verdict.other == "none-lr0.01");
  CHECK(verdict.subject == "layer-lr0.1");
  CHECK(verdict.chosen == "chosen by loss from 2 and 2 variants");
  for (size_t i = 8; i < 12; ++i) runs[i].end.outcome = RunEnd::diverged;
  CHECK(judge(study.claims[0], study, runs).subject == "layer-lr0.01");
}

TEST_CASE("verdict: what is taken of a curve") {
  const Study study =
      study_with(R"({"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none"}})",
                 R"("higher_is_better": "hits",)");
  MeasuredRun run;
  run.curves = {.columns = {"epoch", "step", "loss", "hits"},
                .rows = {{1, 10, 3, 5}, {2, 20, 1, 9}, {3, 30, 2, 7}}};
  run.test = {.columns = {"epoch", "test_loss"}, .rows = {{2, 1.5}}};
  const auto value = [&](const char* metric, const char* words) {
    return taken(run, metric, Take::from(words), study);
  };
  CHECK(value("loss", "last") == 2);
  CHECK(value("loss", "best") == 1);
  CHECK(value("hits", "best") == 9);
  CHECK(value("loss", "mean of last 2") == 1.5);
  CHECK(value("loss", "mean of last 3") == 2);
  run.run.name = "layer-seed1";
  CHECK(message_of<DataError>([&] { value("loss", "mean of last 4"); }) ==
        "s.json: 'mean of last 4' of 'loss': layer-seed1 has only 3; take the mean of fewer");
  CHECK(value("hits", "where loss is best") == 9);
  const Study plain =
      study_with(R"({"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none"}})", "");
  CHECK(taken(run, "hits", Take::from("best"), plain) == 5);
  CHECK(value("loss", "where hits is best") == 1);
  CHECK(value("test_loss", "last") == 1.5);
  CHECK(!value("nothing", "last"));
  CHECK(updates_to_reach(run, "hits", 7, study) == 20);
  CHECK(!updates_to_reach(run, "hits", 10, study));
  run.curves.rows.push_back({4, 40, 1, 8});  // as good as the best before it
  CHECK(value("hits", "where loss is best") == 9);
}

TEST_CASE("verdict: the best of one file is looked up in another by the updates made") {
  const Study study =
      study_with(R"({"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none"}})");
  MeasuredRun run;
  run.curves = {.columns = {"epoch", "step", "loss"}, .rows = {{1, 100, 3}, {2, 200, 1}, {3, 300, 2}}};
  run.recorded = {.columns = {"step", "along"}, .rows = {{0, 0.1}, {100, 0.2}, {200, 0.3}, {300, 0.4}}};
  run.test = {.columns = {"epoch", "test_loss"}, .rows = {{2, 1.5}}};
  const auto value = [&](const char* metric, const char* words) {
    return taken(run, metric, Take::from(words), study);
  };
  CHECK(value("along", "where loss is best") == 0.3);
  CHECK(value("loss", "where along is best") == std::nullopt);  // recorded before the first evaluation
  CHECK(updates_to_reach(run, "along", 0.1, study) == 0);
  run.recorded.rows.erase(run.recorded.rows.begin() + 2);  // none at the update of the best itself
  CHECK(value("along", "where loss is best") == 0.2);
  for (const auto& names :
       {std::pair{"loss", "where test_loss is best"}, {"test_loss", "where loss is best"}})
    CHECK(message_of<DataError>([&] { value(names.first, names.second); }) ==
          "s.json: needs the course of 'test_loss', which runs measure once, in their test; name a "
          "metric of metrics.csv");
  CHECK_THROWS_AS(updates_to_reach(run, "test_loss", 1, study), DataError);
}

TEST_CASE("verdict: an unknown metric is named with those that there are") {
  const Study study =
      study_with(R"({"metric": "los", "lower": {"norm": "layer"}, "than": {"norm": "none"}})");
  const auto runs = runs_of(0, {3, 3, 3}, {2, 2, 2}) + runs_of(1, {3, 3, 3}, {2, 2, 2});
  CHECK(message_of<DataError>([&] {
          judge(study.claims[0], study, runs);
        }).find("'los', and  has only loss; name one of them") != std::string::npos);
  auto some = runs;
  for (size_t i = 0; i < 3; ++i) {  // those of norm none
    some[i].curves.columns.emplace_back("own");
    for (auto& row : some[i].curves.rows) row.push_back(1);
  }
  const Study where_own = study_with(
      R"({"metric": "loss", "take": "where own is best", "lower": {"norm": "layer"}, "than": {"norm": "none"}})");
  CHECK(message_of<DataError>([&] { judge(where_own.claims[0], where_own, some); }) ==
        "s.json: 'take' names 'own', and  has only loss; name one of them");
}

TEST_CASE("verdict: every metric of a study's file must be one of its runs") {
  const auto runs = runs_of(0, {3, 3, 3}, {2, 2, 2});
  const auto refused = [&](const std::string& more, const std::string& take = "last") {
    const Study study = study_with(R"({"metric": "loss", "take": ")" + take +
                                       R"(", "lower": {"norm": "layer"}, "than": {"norm": "none"}})",
                                   more);
    require_metrics(study, {});  // nothing is known yet
    return message_of<DataError>([&] { require_metrics(study, runs); });
  };
  CHECK(refused(R"("choose": "los",)") == "s.json: choose: 'los' is no metric of these runs; there are loss");
  CHECK(
      refused(R"("limit": {"metric": "los", "worst": 1},)").starts_with("s.json: limit: 'los' is no metric"));
  CHECK(refused(R"("log": ["los"],)").starts_with("s.json: log: 'los' is no metric"));
  CHECK(refused("", "where los is best").starts_with("s.json: take: 'los' is no metric"));
  require_metrics(study_with(R"({"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none"}})"),
                  runs);
}

TEST_CASE("verdict: numbers have the ten digits in which builds agree") {
  const Verdict verdict = judge({.metric = "m"}, pairs_of({1.0 / 3, 1.0 / 7, 1.0 / 9}, {1, 1, 1}));
  CHECK(verdict.number == 0.8042328042);
}

TEST_CASE("verdict: of what is drawn from the seed, the seed alone is left out of the data") {
  std::vector<MeasuredRun> runs = runs_of(0, {1, 2}, {1, 2});
  runs[0].data = "stories (seed 1, 5 events): 10 cases";
  runs[1].data = "stories (seed 12, 5 events): 10 cases";
  CHECK(data_of(runs) == "stories (5 events): 10 cases; other ones with each seed");
}
