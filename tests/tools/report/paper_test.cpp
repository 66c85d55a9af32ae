// The paper beside ours: pairs with their difference, what its figures print, and the verdicts on its claims.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/error.h"
#include "tests/temporary_folder.h"
#include "tests/tools/report/runs_folder.h"
#include "tools/report/paper/claims.h"
#include "tools/report/paper/values.h"

using namespace lamina;
using namespace lamina::report_test;

namespace {

void make_draw(const std::string& folder, const Json& more, int epochs = 200) {
  Json settings{{"norm", "layer"}, {"preset", "paper"}, {"seed", 1}, {"epochs", epochs}};
  settings.update(more);
  std::string rows = "epoch,step,train_bound,test_bound\n";
  for (int epoch = 1; epoch <= epochs; ++epoch)
    rows += text(epoch, ',', 390 * epoch, ",81,", 284.0 - epoch, '\n');
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
  CHECK(pairs["rows"][0]["group"] == "paper: layer norm on binarized MNIST; ours: layer norm on mnist");
  CHECK(pairs["rows"][0]["cells"] == Json({"82.09", "84", "+1.91"}));
}

TEST_CASE(
    "each pair names the paper's data and ours, since a folder of MNIST's format may hold other images") {
  const TemporaryFolder folder;
  make_draw(folder / "a", {{"data", "data/fashion-mnist"}});
  const Json row = exhibit_on(folder.path(), "figure-4")["tables"][0]["rows"][0];
  CHECK(row["group"] == "paper: layer norm on binarized MNIST; ours: layer norm on data/fashion-mnist");
  for (const Exhibit& each : exhibits())
    if (!each.paper.empty() && each.paper_columns.empty())
      CHECK_MESSAGE(!each.paper_data.empty(), each.id, " has numbers of the paper on unknown data");
}

TEST_CASE("no difference is formed with synthetic, small or shortened runs, and the table says why") {
  const TemporaryFolder folder;
  for (const auto& [settings, reason] :
       {std::pair{Json{{"data", ""}}, "synthetic data"},
        {Json{{"data", "mnist"}, {"preset", "small"}}, "small preset"},
        {Json{{"data", "mnist"}, {"train_on", 1000}}, "trained on 1000 alone"},
        {Json{{"data", "mnist"}, {"smoke", 300}}, "cut down by LAMINA_SMOKE=300"}}) {
    make_draw(folder / "a", settings);
    const Json row = exhibit_on(folder.path(), "figure-4")["tables"][0]["rows"][0];
    CHECK(row["cells"][2] == "–");
    CHECK(row["group"].get<std::string>().find(reason) != std::string::npos);
  }
  make_run_of("skip-thoughts", folder / "b", {{"norm", "layer"}, {"data", "books"}}, "");
  write_file(folder / "b/tasks.csv", "step,sick_r\n50000,0.8\n");
  CHECK(exhibit_on(folder.path(), "table-3")["tables"][0]["rows"][0]["group"].get<std::string>().find(
            "50000 of 1000000 updates") != std::string::npos);
}

TEST_CASE("no difference is formed with runs of another batch, rate or optimizer than the paper's") {
  const TemporaryFolder folder;
  const auto row = [&](const Json& more) {
    Json settings{{"data", "mnist"}, {"batch", "128"}, {"lr", 0.001}};
    settings.update(more);
    make_draw(folder / "a", settings);
    return exhibit_on(folder.path(), "figure-4")["tables"][0]["rows"][0];
  };
  CHECK(row(Json::object())["cells"][2] == "+1.91");
  for (const auto& [settings, reason] : {std::pair{Json{{"batch", "64"}}, "batch 64 and not 128"},
                                         {Json{{"lr", 0.01}}, "lr 0.01 and not 0.001"}}) {
    CHECK(row(settings)["cells"][2] == "–");
    CHECK(row(settings)["group"] == text("paper: layer norm on binarized MNIST; ours: layer norm on mnist (",
                                         reason, ", so no difference is formed)"));
  }
  for (const auto& [optimizer, apart] : {std::pair{"authors-adam", "−2.5"}, {"sgd", "–"}}) {
    const Json settings{{"norm", "layer"}, {"score", "order"}, {"data", "coco"}, {"optimizer", optimizer}};
    make_run_of("order-embedding", folder / "b", settings, "");
    write_file(folder / "b/test.csv", "epoch,test_caption_r1\n100,46\n");
    CHECK(exhibit_on(folder.path(), "table-2")["tables"][0]["rows"][0]["cells"][2] == apart);
  }
}

TEST_CASE(
    "DRAW's bounds after 200 epochs have no difference from those of a run as long as the paper's curves") {
  const TemporaryFolder folder;
  for (const int epochs : {5, 100}) {
    make_draw(folder / "a", {{"data", "mnist"}}, epochs);
    const Json row = exhibit_on(folder.path(), "figure-4")["tables"][0]["rows"][0];
    CHECK(row["cells"][2] == "–");
    CHECK(row["group"].get<std::string>().find(text(epochs, " of 200 epochs")) != std::string::npos);
  }
}

TEST_CASE("a run that is longer than the paper's says so beside its difference") {
  const TemporaryFolder folder;
  make_draw(folder / "a", {{"data", "mnist"}}, 201);
  const Json row = exhibit_on(folder.path(), "figure-4")["tables"][0]["rows"][0];
  CHECK(row["cells"] == Json({"82.09", "83", "+0.91"}));
  CHECK(
      row["group"] ==
      "paper: layer norm on binarized MNIST; ours: layer norm on mnist (longer than the paper's: 201 of 200 "
      "epochs)");
}

TEST_CASE(
    "of several seeds all must be as long as the paper's runs for a difference, but those that diverged") {
  const TemporaryFolder folder;
  make_draw(folder / "a", {{"data", "mnist"}});
  make_draw(folder / "b", {{"data", "mnist"}, {"seed", 2}, {"epochs", 200}}, 5);
  const auto row = [&] { return exhibit_on(folder.path(), "figure-4")["tables"][0]["rows"][0]; };
  CHECK(row()["cells"][2] == "–");
  CHECK(row()["group"].get<std::string>().find("5 of 200 epochs") != std::string::npos);
  write_file(folder / "b/diverged.txt", "the loss is nan\n");
  CHECK(row()["cells"] == Json({"82.09", "84, 1 of 2, 1 diverged", "+1.91"}));
}

TEST_CASE("Table 2's rows stand beside runs with their score, and with no other") {
  const TemporaryFolder folder;
  for (const auto& [score, norm] : {std::pair{"cosine", "none"}, {"order", "none"}, {"cosine", "layer"}}) {
    const std::string run = text(folder.path(), '/', score, '-', norm);
    make_run_of("order-embedding", run, {{"score", score}, {"norm", norm}, {"data", "coco"}, {"epochs", 100}},
                "");
    write_file(run + "/test.csv", "epoch,test_caption_r1\n100,46\n");
  }
  const Json pairs = exhibit_on(folder.path(), "table-2")["tables"][0];
  std::map<std::string, Json> cells;
  for (const Json& row : pairs["rows"]) cells[row["group"].get<std::string>()] = row["cells"];
  CHECK(cells.size() == 2);
  CHECK(cells["paper: Sym (Vendrov et al.) on Microsoft COCO; ours: baseline, score cosine on coco"] ==
        Json({"45.4", "46", "+0.6"}));
  CHECK(cells["paper: OE (the authors) on Microsoft COCO; ours: baseline, score order on coco"] ==
        Json({"46.6", "46", "−0.6"}));
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

TEST_CASE("a change without a number is not invariant, wherever it stands in the file") {
  const TemporaryFolder folder;
  for (const auto& [first, second] : {std::pair{"4e-16", "nan"}, {"nan", "4e-16"}}) {
    write_file(folder / "invariance.csv",
               text("scheme,transformation,magnitude,epsilon,change\nlayer,weight matrix re-scaling,2,0,",
                    first, "\nlayer,weight matrix re-scaling,100,0,", second, '\n'));
    const Json tables = exhibit_on(folder.path(), "table-1")["tables"];
    CHECK(tables[0]["rows"][0]["cells"] == Json({"yes", "no, –", "differs"}));
    CHECK(tables[2]["rows"][0]["cells"] == Json({"no, –"}));
  }
}

TEST_CASE("DRAW's bounds and curves in the paper stand beside runs on real data only") {
  const TemporaryFolder folder;
  make_draw(folder / "a", {{"data", "mnist"}});
  const Json real = exhibit_on(folder.path(), "figure-4")["charts"][0]["paper"];
  REQUIRE(real["values"].size() == 2);
  CHECK(real["values"][0]["y"] == 82.36);
  CHECK(real["values"][1]["y"] == 82.09);
  CHECK(real["values"][0]["x"].is_null());
  CHECK(real["axes"]["y"] == Json({80, 100}));
  CHECK(real["data"] == "binarized MNIST");
  CHECK(real["source"] == "Figure 4, page 9; x: Epoch, 0 to 100; y: Test Variational Bound, 80 to 100");
  REQUIRE(real["curves"].size() == 3);
  for (const auto& [i, label] : {std::pair{size_t{0}, "baseline"}, {1, "weight norm"}, {2, "layer norm"}})
    CHECK(real["curves"][i]["label"] == label);
  make_draw(folder / "a", {{"data", ""}});
  const Json synthetic = exhibit_on(folder.path(), "figure-4")["charts"][0]["paper"];
  CHECK(synthetic["values"].empty());
  CHECK(synthetic["curves"].empty());
  CHECK(synthetic["left_out"] == "synthetic data");
  CHECK(exhibit_on(folder.path(), "figure-4")["charts"][1]["paper"].is_null());
}

TEST_CASE("the paper's curves come in units of our columns") {
  const TemporaryFolder folder;
  make_run_of("order-embedding", folder / "a", {{"norm", "layer"}, {"data", "coco"}},
              "epoch,step,valid_image_r1,valid_image_r5,valid_image_r10\n1,300,1,2,3\n");
  const Json paper = exhibit_on(folder.path(), "figure-1")["charts"][0]["paper"];
  CHECK(paper["axes"] == Json({{"x", {0, 90000}}, {"y", {34, 43}}}));
  CHECK(paper["curves"][1]["name"] == "Order-Embedding + LN");
  CHECK(paper["curves"][1]["x"].back() == 165 * 300);
  make_run_of("skip-thoughts", folder / "a", {{"norm", "layer"}, {"data", "books"}}, "");
  write_file(folder / "a/tasks.csv", "step,sick_r\n50000,0.8\n");
  const Json scores = exhibit_on(folder.path(), "figure-3")["charts"][0]["paper"];
  CHECK(scores["axes"] == Json({{"x", {50000, 1000000}}, {"y", {0.82, 0.86}}}));
  CHECK(scores["line"] == Json({{"width", 0.00024}, {"log", false}}));
  REQUIRE(scores["curves"].size() == 2);
}

TEST_CASE("a batch size has the paper's curves of the same one") {
  const TemporaryFolder folder;
  for (const char* batch : {"4", "64", "128"})
    make_run_of("mnist", folder / batch, {{"norm", "layer"}, {"data", "mnist"}, {"batch", batch}},
                "epoch,step,train_nll,test_error\n1,1,0.1,0.02\n");
  const Json charts = exhibit_on(folder.path(), "figure-6")["charts"];
  REQUIRE(charts.size() == 6);
  for (const Json& chart : charts) {
    const std::string title = chart["title"];
    if (title.ends_with(" 64")) {
      CHECK(chart["paper"].is_null());
      continue;
    }
    const Json layer = chart["paper"]["curves"].back();
    CHECK(layer["name"] == (title.ends_with(" 4") ? "LayerNorm bz4" : "LayerNorm bz128"));
    if (title.starts_with("Training")) CHECK(layer["x"][0] == 1);  // the paper's epoch 0
  }
}

TEST_CASE("the curves that were read off end where the paper's tables and text say") {
  for (const PaperPanel& panel : committed_panels()) {
    CHECK(panel.page == std::array{6, 7, 8, 9, 9, 10}[static_cast<size_t>(panel.figure - 1)]);
    for (const PaperCurve& curve : panel.curves) {
      REQUIRE(curve.x.size() == curve.y.size());
      CHECK_MESSAGE(curve.x.size() <= 225, curve.name);
      for (const PaperValue& value : paper_values(panel.exhibit, curve.column)) {
        const bool same = value.norm == curve.norm && (curve.norm == "level" || std::isfinite(value.x));
        if (!same || curve.norm == "none") continue;  // of the baseline Table 3 has an earlier score
        const double half_digit = value.y < 1 ? 0.0005 : 0.05;
        CHECK_MESSAGE(std::abs(curve.y.back() - value.y) <= half_digit + panel.y.times * panel.y.line,
                      panel.panel, curve.name);
      }
    }
  }
}

TEST_CASE("Table 3's scores of the baseline are those of its curve after 800,000 updates") {
  for (const PaperPanel& panel : committed_panels()) {
    if (panel.exhibit != "figure-3") continue;
    const PaperCurve& curve = panel.curves[1];
    const auto place = std::ranges::find(curve.x, 800000.0);
    REQUIRE((curve.norm == "none" && place != curve.x.end()));
    const PaperValue table = paper_values("figure-3", curve.column)[1];
    CHECK_MESSAGE(std::abs(curve.y[static_cast<size_t>(place - curve.x.begin())] - table.y) <=
                      (table.y < 1 ? 0.00101 : 0.051),
                  panel.panel);
    CHECK_MESSAGE(table.x == *place, panel.panel);  // where the chart marks it
  }
}

TEST_CASE("a file of curves that is no such file is refused in a line with the remedy") {
  CHECK_THROWS_WITH_AS(panels_from("x.json", "{}"), doctest::Contains("x.json: is damaged"), DataError);
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

TEST_CASE("the committed claims are read, each of an exhibit that there is, and each study shown has some") {
  const std::vector<KnownClaim> claims = claims_from("claims.json", read_file("models/evidence/claims.json"));
  CHECK(claims.size() > 50);
  for (const KnownClaim& each : claims)
    for (const std::string& id : each.exhibits)
      CHECK_MESSAGE(std::ranges::find(exhibits(), id, &Exhibit::id) != exhibits().end(), id);
  const Json document = make_document({}, claims);
  for (const Json& exhibit : document["exhibits"])
    if (exhibit["part"] == paper_part) CHECK_MESSAGE(!exhibit["verdict"].is_null(), exhibit["id"]);
  for (const Exhibit& each : exhibits())  // of a study or lab
    if (!each.study.empty())
      CHECK_MESSAGE(!verdict_on(each.id, claims).is_null(), each.id,
                    ": run tools/paper-claims.py --write, whose other_claims() must look where it is");
  CHECK_THROWS_WITH_AS(claims_from("x.json", "[{}]"), doctest::Contains("x.json: is damaged"), DataError);
}

TEST_CASE("every exhibit names a page of the repository") {
  for (const Exhibit& each : exhibits()) CHECK_MESSAGE(std::filesystem::exists(each.readme), each.id);
}
