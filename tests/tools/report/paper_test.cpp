// The paper beside ours: pairs with their difference, what its figures print, and the verdicts on its claims.

#include "core/error.h"
#include "tests/temporary_folder.h"
#include "tests/tools/report/runs_folder.h"
#include "tools/report/paper/claims.h"

using namespace lamina;
using namespace lamina::report_test;

namespace {

void make_draw(const std::string& folder, const Json& more, const std::string& norm = "layer") {
  Json settings{{"norm", norm}, {"preset", "paper"}, {"seed", 1}, {"epochs", 100}};
  settings.update(more);
  std::string rows = "epoch,step,train_bound,test_bound\n";
  for (int epoch = 1; epoch <= 100; ++epoch)
    rows += text(epoch, ',', 390 * epoch, ",81,", 184.0 - epoch, '\n');
  make_run_of("draw", folder, settings, rows);
}

KnownClaim claim(const std::string& answer, const std::string& data = "MNIST",
                 const std::string& exhibit = "figure-6") {
  return {.exhibits = {exhibit},
          .claim = "Layer norm learns",
          .answer = answer,
          .number = "ratio 2",
          .seeds = 5,
          .data = data,
          .name = "online",
          .page = "models/lab/README.md"};
}

std::string badge_on(const std::vector<KnownClaim>& claims) {
  return verdict_on("figure-6", claims)["badge"]["text"];
}

}  // namespace

TEST_CASE("the paper's and our numbers stand in pairs with their difference") {
  const TemporaryFolder folder;
  make_draw(folder / "a", {{"data", "mnist"}});
  const Json pairs = exhibit_on(folder.path(), "figure-4")["tables"][0];
  CHECK(pairs["title"] == "Paper beside ours");
  CHECK(pairs["columns"] == Json({"paper", "ours", "difference"}));
  CHECK(pairs["rows"][0]["label"] == "test bound, nats");
  CHECK(pairs["rows"][0]["group"] == "paper: layer norm; ours: layer norm");
  CHECK(pairs["rows"][0]["cells"] == Json({"82.09", "84", "+1.91"}));
}

TEST_CASE("no difference is formed with synthetic, small or shortened runs, and the table says why") {
  const TemporaryFolder folder;
  for (const auto& [settings, reason] : {std::pair{Json{{"data", ""}}, "synthetic data"},
                                         {Json{{"data", "mnist"}, {"preset", "small"}}, "small preset"}}) {
    make_draw(folder / "a", settings);
    const Json row = exhibit_on(folder.path(), "figure-4")["tables"][0]["rows"][0];
    CHECK(row["cells"][2] == "–");
    CHECK(row["group"].get<std::string>().find(reason) != std::string::npos);
  }
  make_run_of("draw", folder / "a", {{"norm", "layer"}, {"data", "mnist"}}, "epoch,test_bound\n5,123.9\n");
  CHECK(exhibit_on(folder.path(), "figure-4")["tables"][0]["rows"][0]["group"].get<std::string>().find(
            "5 of 100 epochs") != std::string::npos);
}

TEST_CASE("Table 1 is paired entry by entry, and an entry that differs says so") {
  const TemporaryFolder folder;
  write_file(folder / "invariance.csv",
             "scheme,transformation,magnitude,epsilon,change\n"
             "batch,weight matrix re-scaling,2,0,4e-16\nbatch,weight matrix re-scaling,2,1e-05,0.3\n"
             "layer,dataset re-scaling,2,0,0.5\n");
  const Json rows = exhibit_on(folder.path(), "table-1")["tables"][0]["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["cells"] == Json({"yes", "yes, 4 × 10⁻¹⁶", "none"}));
  CHECK(rows[1]["cells"] == Json({"yes", "no, 0.5", "differs"}));
}

TEST_CASE("DRAW's bounds in the paper stand beside runs on real data only") {
  const TemporaryFolder folder;
  make_draw(folder / "a", {{"data", "mnist"}});
  const Json real = exhibit_on(folder.path(), "figure-4")["charts"][0]["paper"];
  REQUIRE(real["values"].size() == 2);
  CHECK(real["values"][0]["y"] == 82.36);
  CHECK(real["values"][1]["y"] == 82.09);
  CHECK(real["values"][0]["x"].is_null());
  CHECK(real["axes"]["y"] == Json({80, 100}));
  make_draw(folder / "a", {{"data", ""}});
  const Json synthetic = exhibit_on(folder.path(), "figure-4")["charts"][0]["paper"];
  CHECK(synthetic["values"].empty());
  CHECK(synthetic["left_out"] == "synthetic data");
}

TEST_CASE("cells that the paper has as exact and are not are marked") {
  const TemporaryFolder folder;
  write_file(folder / "formulas.csv",
             "outputs,norm,weights,weights_bias,weights_gain,bias_gain,along_gain\n"
             "gaussian,layer,0.66,0.08,0.079,1.8e-16,2.9e-16\n");
  const Json shown = exhibit_on(folder.path(), "section-5-2-fisher");
  const Json cells = shown["tables"][0]["rows"][0]["cells"];
  CHECK(cells[0] == Json({{"text", "0.66"}, {"mark", "not exact"}}));
  CHECK(cells[3].is_string());
  CHECK(shown["finding"].get<std::string>().find("(13) under layer norm") != std::string::npos);
}

TEST_CASE("the verdict on several claims is theirs, or says in how many parts") {
  CHECK(verdict_on("figure-6", {}).is_null());
  CHECK(verdict_on("figure-6", {claim("holds", "MNIST", "figure-5")}).is_null());
  CHECK(badge_on({claim("holds"), claim("holds")}) == "holds");
  CHECK(badge_on({claim("does not hold"), claim("does not hold")}) == "does not hold");
  CHECK(badge_on({claim("holds"), claim("does not hold"), claim("one seed")}) == "holds in part: 1 of 3");
  CHECK(badge_on({claim("does not hold"), claim("cannot be told")}) == "does not hold: 1 of 2");
  CHECK(badge_on({claim("one seed"), claim("withdrawn")}) == "open");
}

TEST_CASE("a verdict's sentence names seeds and data, synthetic ones too") {
  CHECK(verdict_on("figure-6", {claim("holds", "synthetic")})["sentence"] ==
        "Layer norm learns: holds (ratio 2; 5 seeds; synthetic).");
  CHECK(
      verdict_on("figure-6", {claim("holds"), claim("holds", "synthetic"), claim("one seed")})["sentence"] ==
      "Holds: Layer norm learns; Layer norm learns. Measured with one seed, which decides nothing: Layer "
      "norm "
      "learns. Data: MNIST, synthetic.");
}

TEST_CASE("many claims are counted under each verdict") {
  std::vector<KnownClaim> claims(6, claim("holds", "MNIST files in data/mnist: 55000 cases"));
  claims[5].answer = "cannot be told";
  CHECK(verdict_on("figure-6", claims)["sentence"] == "Holds: 5 of 6. Cannot be told: 1 of 6. Data: MNIST.");
}

TEST_CASE("the committed claims are read, each of an exhibit that there is") {
  const std::vector<KnownClaim> claims = claims_from("claims.json", read_file("models/evidence/claims.json"));
  CHECK(claims.size() > 50);
  for (const KnownClaim& each : claims)
    for (const std::string& id : each.exhibits)
      CHECK_MESSAGE(std::ranges::find(exhibits(), id, &Exhibit::id) != exhibits().end(), id);
  const Json document = make_document({}, claims);
  for (const Json& exhibit : document["exhibits"])
    if (exhibit["part"] == paper_part) CHECK_MESSAGE(!exhibit["verdict"].is_null(), exhibit["id"]);
  CHECK_THROWS_WITH_AS(claims_from("x.json", "[{}]"), doctest::Contains("x.json: is damaged"), DataError);
}

TEST_CASE("every exhibit names a page of the repository") {
  for (const Exhibit& each : exhibits()) CHECK_MESSAGE(std::filesystem::exists(each.readme), each.id);
}
