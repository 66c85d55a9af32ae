#include "models/evidence/study/study.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "core/files/file.h"
#include "models/evidence/run_end.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

Study study_of(const std::string& rest) {
  return study_from("s.json", R"({"experiment": "mnist")" + rest + "}");
}

std::string complaint(const std::string& rest) {
  return message_of<DataError>([&] { study_of(rest); });
}

std::vector<std::string> names(const Study& study) {
  std::vector<std::string> all;
  for (const Combination& each : study.combinations) all.push_back(each.name);
  return all;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("study: lists become all combinations, with every seed") {
  const Study study =
      study_of(R"(, "settings": {"preset": "small", "epochs": 3, "lr": 1e-3, "tied": true, "slow": false},
      "variants": {"norm": ["none", "layer"], "batch": [128, 4]}, "seeds": [5, 1])");
  CHECK(names(study) == Words{"none-batch128", "none-batch4", "layer-batch128", "layer-batch4"});
  const auto runs = study.runs();
  REQUIRE(runs.size() == 8);
  CHECK(runs[1].name == "none-batch4-seed5");
  CHECK(runs[4].name == "none-batch128-seed1");
  CHECK(study.flags_of(runs[1]) == Words{"--preset=small", "--epochs=3", "--lr=0.001", "--tied",
                                         "--norm=none", "--batch=4", "--seed=5", "--threads=1"});
}

TEST_CASE("study: combinations that are named") {
  CHECK(names(study_of(
            R"(, "variants": [{"norm": "layer", "placement": ["pre", "post"]}, {"norm": "none"}])")) ==
        Words{"layer-pre", "layer-post", "none"});
  CHECK(names(study_of("")) == Words{"run"});
  CHECK(names(study_of(R"(, "variants": {"data": ["../a b"], "lr": [0.5, 1], "tied": [true, false]})")) ==
        Words{"_._a_b-lr0.5-tied", "_._a_b-lr0.5-no-tied", "_._a_b-lr1-tied", "_._a_b-lr1-no-tied"});
}

TEST_CASE("study: mistakes are said in one line with the file and the remedy") {
  CHECK(message_of<DataError>([] { study_from("s.json", ""); }).starts_with("s.json: is not JSON ("));
  CHECK(message_of<DataError>([] { study_from("s.json", "[1]"); }).starts_with("s.json: holds no {...}"));
  CHECK(message_of<DataError>([] { study_from("s.json", "{}"); }) ==
        "s.json: 'experiment' is missing; name a command of lamina list, such as mnist");
  CHECK(
      complaint(R"(, "sedes": [1])").starts_with("s.json: 'sedes' is no key; there are question,experiment"));
  CHECK(complaint(R"(, "seeds": [1], "seeds": [2])") == "s.json: 'seeds' is there twice; leave one of them");
  CHECK(complaint(R"(, "seeds": [])") ==
        "s.json: 'seeds' is an empty list; give it a value, or leave the key out");
  CHECK(complaint(R"(, "variants": {"norm": []})").starts_with("s.json: 'variants: norm' is an empty list"));
  CHECK(complaint(R"(, "variants": {"norm": "layer"})") ==
        "s.json: 'variants: norm' is no list; write [...]");
  CHECK(complaint(R"(, "seeds": [1, -1])")
            .starts_with("s.json: 'seeds' holds -1, which is no whole number from 0"));
  CHECK(complaint(R"(, "seeds": [1, 1])") == "s.json: 'seeds' holds 1 twice; leave one out");
  CHECK(complaint(R"(, "settings": {"seed": 1})") ==
        "s.json: 'settings': 'seed' is not for single runs; write \"seeds\": [1, 2, 3]");
  CHECK(complaint(R"(, "settings": {"seeds": 3})") ==
        "s.json: 'settings': 'seeds' is not for single runs; write \"seeds\": [1, 2, 3] beside the settings");
  CHECK(complaint(R"(, "metrics": ["loss", "loss"])") == "s.json: 'metrics' holds loss twice; leave one out");
  CHECK(complaint(R"(, "settings": {"batch": [4, 8]})").find("lists of values belong into 'variants'") !=
        std::string::npos);
  CHECK(complaint(R"(, "settings": {"lr": 1}, "variants": {"lr": [1, 2]})") ==
        "s.json: 'lr' is in 'settings' and in 'variants'; leave it in one of them");
  CHECK(complaint(R"(, "variants": [{"norm": "a"}, {"norm": "a"}])") ==
        "s.json: two variants would have the name a; leave one of them out");
  CHECK(complaint(R"(, "variants": [{"norm": "a", "batch": 4}, {"batch": 4, "norm": "a"}])") ==
        "s.json: the variant batch4-a has the settings of another one; leave one of them out");
  CHECK(complaint(R"(, "variants": {"lr": [0.001, "1e-3"]})") ==
        "s.json: the variant 1e-3 has the settings of another one; leave one of them out");
  CHECK(complaint(R"(, "threads": 0)").starts_with("s.json: 'threads' is no whole number from 1 to 1024"));
  const std::string chosen = R"(, "variants": {"lr": [1, 2]}, "seeds": [1, 2], "choose": "valid_error",
      "claims": [{"metric": "loss", "lower": {"lr": 1}, "than": {"lr": 2}}])";
  CHECK(study_of(chosen + R"(, "choose_seeds": 1)").choose_seeds == 1);
  CHECK(complaint(chosen + R"(, "choose_seeds": 2)")
            .starts_with("s.json: 'choose_seeds' is no whole number from 1 to one less than the 2 seeds"));
  CHECK(complaint(chosen + R"(, "choose_seeds": 0)").find("'choose_seeds' is no whole") != std::string::npos);
  CHECK(complaint(R"(, "seeds": [1, 2], "choose_seeds": 1)")
            .starts_with("s.json: 'choose_seeds' needs 'choose', a metric to choose by, and 'claims'"));
  CHECK(complaint(R"(, "variants": [{"lr": 0.1}, {"norm": "none"}], "against": "lr")") ==
        "s.json: 'against': the variant none has no number 'lr'; name a setting of which all have one");
  CHECK(complaint(R"(, "variants": {"norm": ["none"]}, "against": "norm")")
            .starts_with("s.json: 'against': the variant none has no number 'norm'"));
  CHECK(complaint(R"(, "variants": {"lr": [1, 2]}, "against": "lr", "panels": "lr")") ==
        "s.json: 'against' and 'panels' are both 'lr'; change one");
  for (const char* const limit : {"3", "{}", R"({"metric": "loss"})", R"({"metric": "loss", "worst": "3"})"})
    CHECK(complaint(std::string(R"(, "limit": )") + limit).starts_with("s.json: 'limit' is no {"));
  CHECK(complaint(R"(, "limit": {"metric": "loss", "worst": 3, "best": 1})")
            .starts_with("s.json: 'limit': 'best' is no key"));
  for (const char* const levels : {"[100]", "3"})
    CHECK(complaint(std::string(R"(, "levels": )") + levels) ==
          "s.json: 'levels' is no {...}; write {\"metric\": [95, 100]}");
  CHECK(complaint(R"(, "levels": {"loss": []})").starts_with("s.json: 'levels: loss' is an empty list"));
  CHECK(complaint(R"(, "levels": {"loss": 3})").starts_with("s.json: 'levels: loss' is no list"));
  CHECK(complaint(R"(, "levels": {"loss": [3, "2"]})") ==
        "s.json: 'levels: loss' holds \"2\", which is no number; correct it");
  for (const char* const ends : {"[1]", "[2, 1]", "[1, 1]", "[1, 2, 3]"})
    CHECK(complaint(text(R"(, "range": {"loss": )", ends, "}")) ==
          "s.json: 'range: loss' is no [LOW, HIGH]; correct it");
  CHECK(complaint(R"(, "log": "loss", "range": {"loss": [0, 1]})") ==
        "s.json: 'range: loss' is no [LOW, HIGH] above 0; correct it");
  CHECK(complaint(R"(, "panels": "batch")")
            .starts_with("s.json: 'panels': the variant run has no setting 'batch'"));
  CHECK(complaint(", \"x\": " + std::string(100, '[') + std::string(100, ']')).find("brackets within") !=
        std::string::npos);
}

TEST_CASE("study: metrics are named in its lists, its claims, its choice, its limit and its levels") {
  const Study study = study_of(R"(, "variants": {"norm": ["none", "layer"], "lr": [1, 0.1]}, "metrics": "a",
      "log": ["b"], "choose": "c", "limit": {"metric": "d", "worst": 2}, "against": "lr", "levels": {"g": [3, 2]},
      "range": {"h": [0, 1]},
      "claims": [{"metric": "e", "take": "where f is best", "lower": {"norm": "layer"}, "than": {"norm": "none"}}])");
  using Named = std::vector<std::pair<std::string, std::string>>;
  CHECK(study.named_metrics() == Named{{"metrics", "a"},
                                       {"log", "b"},
                                       {"choose", "c"},
                                       {"limit", "d"},
                                       {"levels", "g"},
                                       {"range", "h"},
                                       {"claims", "e"},
                                       {"take", "f"}});
  CHECK(study.levels.at(0).values == std::vector<double>{3, 2});
  CHECK(study.against == "lr");
  CHECK(study.limit->worst == 2);
}

TEST_CASE("study: mistakes in claims") {
  const auto of_claim = [](const std::string& claim) {
    return complaint(R"(, "variants": {"norm": ["none", "layer"], "batch": [4, 8]}, "claims": [)" + claim +
                     "]");
  };
  const std::string both = R"("lower": {"norm": "layer", "batch": 4}, "than": {"norm": "none", "batch": 4})";
  CHECK(of_claim(R"({"metric": "loss", )" + both + "}").empty());
  CHECK(of_claim("{" + both + "}") == "s.json: claim 1: 'metric' is missing; name a column of metrics.csv");
  CHECK(of_claim(R"({"metric": "loss", "then": 1})")
            .starts_with("s.json: claim 1: 'then' is no key; there are claim,"));
  CHECK(of_claim(R"({"metric": "loss", "take": "first", )" + both + "}").find("'first' says nothing") !=
        std::string::npos);
  CHECK(of_claim(R"({"metric": "loss"})").find("give one of 'lower', 'higher' and 'faster'") !=
        std::string::npos);
  CHECK(of_claim(R"({"metric": "loss", "by": 1, "times": 2, )" + both + "}").find("not both") !=
        std::string::npos);
  CHECK(of_claim(R"({"metric": "loss", "times": 0, )" + both + "}").find("not above 0") != std::string::npos);
  CHECK(of_claim(R"({"metric": "loss", "lower": {"norm": "batch"}, "than": {"norm": "none"}})") ==
        "s.json: claim 1: no variant has norm batch; correct it or add the variant");
  CHECK(of_claim(R"({"metric": "loss", "lower": {"norm": "layer"}, "than": {"norm": "none", "batch": 4}})")
            .starts_with("s.json: claim 1: 2 variants have norm layer; name more of their settings"));
}

TEST_CASE("study: seeds, variants and claims can change, settings of runs cannot") {
  const Study before = study_of(R"(, "settings": {"epochs": 3}, "variants": {"norm": ["none", "layer"]})");
  const auto merged = [&](const std::string& rest, size_t smoke = 0) {
    return merged_with_kept(study_of(rest), smoke, "d/study.json", kept_of(before, 0));
  };
  CHECK(
      merged(
          R"(, "settings": {"epochs": 3.0}, "variants": {"norm": ["none"]}, "seeds": [1, 2], "question": "?")") ==
      kept_of(before, 0).replace(kept_of(before, 0).find("3"), 1, "3.0"));
  CHECK(merged(R"(, "settings": {"epochs": 3}, "variants": {"norm": ["batch"]})").find("layer") !=
        std::string::npos);
  const auto refusal = [&](const std::string& rest, size_t smoke = 0) {
    return message_of<DataError>([&] { merged(rest, smoke); });
  };
  CHECK(refusal(R"(, "settings": {"epochs": 5})") ==
        "s.json: epochs 5 and not epochs 3 in d/study.json; put it back, or name another folder with --out");
  CHECK(refusal(R"(, "settings": {"epochs": 3, "lr": 0.1})").starts_with("s.json: lr 0.1 and not no lr"));
  CHECK(refusal(R"(, "settings": {"epochs": 3}, "threads": 2)")
            .starts_with("s.json: threads 2 and not threads 1"));
  CHECK(refusal(R"(, "settings": {"epochs": 3})", 1).starts_with("s.json: smoke 1 and not smoke 0"));
  CHECK(merged_with_kept(before, {}, "d/study.json", kept_of(before, 4)) == kept_of(before, 4));
  CHECK(message_of<DataError>([&] {
          merged_with_kept(before, 0, "d/study.json", "{}");
        }).starts_with("d/study.json: is damaged"));
}

TEST_CASE("study: runs may become longer where they are there, and not shorter") {
  const Study before = study_of(R"(, "settings": {"epochs": 3, "lr": 0.1})");
  const Study longer = study_of(R"(, "settings": {"epochs": "5", "lr": 0.1})");
  const auto refusal = [](const Study& study, const Study& kept, Lengths lengths) {
    return message_of<DataError>(
        [&] { merged_with_kept(study, 0, "d/study.json", kept_of(kept, 0), lengths); });
  };
  CHECK(merged_with_kept(longer, 0, "d/study.json", kept_of(before, 0), Lengths::may_grow) ==
        kept_of(longer, 0));
  CHECK(refusal(longer, before, Lengths::as_kept).starts_with("s.json: epochs 5 and not epochs 3"));
  CHECK(refusal(before, longer, Lengths::may_grow).starts_with("s.json: epochs 3 and not epochs 5"));
  const Study other = study_of(R"(, "settings": {"epochs": 5, "lr": 0.2})");
  CHECK(refusal(other, before, Lengths::may_grow).starts_with("s.json: lr 0.2 and not lr 0.1"));
}

TEST_CASE("study: runs in float and in double are not mixed, and the tables of either can be looked at") {
  const Study study = study_of("");
  const std::string in_float =
      R"({"study": "s", "experiment": "mnist", "settings": {}, "threads": 1, "smoke": 0,
    "combinations": {"run": {}})";
  const std::string own = scalar_name, other = own == "float" ? "double" : "float";
  const auto kept_in = [&](const std::string& scalar) {
    return in_float + (scalar == "float" ? "}" : R"(, "scalar": "double"})");
  };
  CHECK(merged_with_kept(study, 0, "d/study.json", kept_in(own)) == kept_of(study, 0));
  CHECK(message_of<DataError>([&] { merged_with_kept(study, 0, "d/study.json", kept_in(other)); }) ==
        "s.json: d/study.json is of runs in " + other + ", and this program is in " + own +
            "; go on with the program built by make REAL=" + other + ", or name another folder with --out");
  CHECK(merged_with_kept(study, {}, "d/study.json", kept_in("double")).find(R"("scalar": "double")") !=
        std::string::npos);
  CHECK(merged_with_kept(study, {}, "d/study.json", kept_in("float")).find("scalar") == std::string::npos);
}

TEST_CASE("study: how a run ended is read as it was written") {
  const TemporaryFolder folder;
  CHECK(read_end(folder.path()).outcome == RunEnd::waiting);
  write_end(folder.path(), {.outcome = RunEnd::diverged, .reason = "a \"b\"", .data = "d", .peak_bytes = 7});
  const RunEnd end = read_end(folder.path());
  CHECK(end.outcome == RunEnd::diverged);
  CHECK(end.reason == "a \"b\"");
  CHECK(end.data == "d");
  CHECK(end.peak_bytes == 7);
  write_file(folder / "outcome.json", "{}");
  CHECK(message_of<DataError>([&] { read_end(folder.path()); }).find("outcome.json: is damaged") !=
        std::string::npos);
}
