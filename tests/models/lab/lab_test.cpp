// The laboratory's framework: rows as a file and back, numbers over x, verdicts, and every lab's own claims.

#include <limits>
#include <set>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "models/lab/lab_verdict.h"
#include "models/lab/labs.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

namespace {

/// Two variants over three seeds: "a" falls from 3 to 1 with x, "b" is 10 higher in each seed.
Rows some_rows() {
  Rows rows;
  for (const std::int64_t seed : {1, 2, 3})
    for (const int x : {0, 1, 2}) {
      const double value = 3 - x + 0.01 * static_cast<double>(seed * (x + 1));
      rows.push_back({seed, "a", "loss", static_cast<double>(x), value});
      rows.push_back(
          {seed, "b", "loss", static_cast<double>(x), value + 10 + 0.001 * static_cast<double>(seed)});
    }
  return rows;
}

double number(const LabNumber& of) { return number_of(some_rows(), 2, of).value(); }

}  // namespace

TEST_CASE("labs: rows are the same after a file, also without a value") {
  Rows rows = some_rows();
  rows.push_back({4, "b, with momentum", "it diverged", 0.5, std::nan("")});
  rows.back().variant = "b with momentum";
  const Rows again = rows_of("x.csv", to_csv(rows));
  REQUIRE(again.size() == rows.size());
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    CHECK(again[i].seed == rows[i].seed);
    CHECK(again[i].variant == rows[i].variant);
    CHECK(again[i].quantity == rows[i].quantity);
    CHECK(again[i].value == doctest::Approx(rows[i].value).epsilon(1e-5));
  }
  CHECK(std::isnan(again.back().value));
  rows.back().variant = "a, b";
  CHECK_THROWS_AS(to_csv(rows), Error);
}

TEST_CASE("labs: a damaged file is refused with its line") {
  const std::string head = "seed,variant,quantity,x,value\n";
  for (const std::string& damaged :
       {std::string(), std::string("seed,variant\n"), head + "1,a,loss,0\n", head + "one,a,loss,0,1\n",
        head + "1,a,loss,x,1\n", head + "1,a,loss,0,1,2\n", head + "1,a,loss,0,0.12",
        head + "1,a,loss,0,1\n2,a,loss,0,1\n1,a,loss,0,2\n"})
    CHECK_THROWS_AS(rows_of("x.csv", damaged), DataError);
  try {
    rows_of("x.csv", head + "1,a,loss,0,1\n1,a,loss,0\n");
    FAIL("nothing was thrown");
  } catch (const DataError& error) {
    CHECK(std::string(error.what()).find("x.csv") != std::string::npos);
    CHECK(std::string(error.what()).find('3') != std::string::npos);
  }
}

TEST_CASE("labs: one number of a curve") {
  const LabNumber loss{.variant = "a", .quantity = "loss"};
  const auto taken = [&](LabNumber::Over over) {
    LabNumber number = loss;
    number.over = over;
    number.x = 1;
    return number;
  };
  CHECK(number(taken(LabNumber::first)) == doctest::Approx(3.02));
  CHECK(number(taken(LabNumber::last)) == doctest::Approx(1.06));
  CHECK(number(taken(LabNumber::lowest)) == doctest::Approx(1.06));
  CHECK(number(taken(LabNumber::highest)) == doctest::Approx(3.02));
  CHECK(number(taken(LabNumber::mean)) == doctest::Approx(2.04));
  CHECK(number(taken(LabNumber::at_x)) == doctest::Approx(2.04));
  CHECK(number({.is = 7.0}) == 7);
  CHECK(message_of<DataError>([] { number({.variant = "c", .quantity = "loss"}); }) ==
        "lab: seed 2 has no 'loss' of 'c' in these rows; measure the lab again");
  const Rows lost{
      {1, "a", "loss", 0, 1}, {1, "a", "loss", 5, 2}, {2, "a", "loss", 0, 1}, {3, "b", "loss", 0, 1}};
  LabNumber at_five = loss;
  at_five.over = LabNumber::at_x;
  at_five.x = 5;
  CHECK(number_of(lost, 1, at_five) == 2);
  CHECK_THROWS_AS(number_of(lost, 2, at_five), DataError);  // not a training that diverged
  CHECK_THROWS_AS(number_of(lost, 3, loss), DataError);
  const double infinite = std::numeric_limits<double>::infinity();
  const Rows begins_infinite{{1, "a", "loss", 0, infinite}, {1, "a", "loss", 1, 2}, {1, "a", "loss", 2, 3}};
  CHECK(number_of(begins_infinite, 1, taken(LabNumber::lowest)) == 2);
  CHECK(!number_of(begins_infinite, 1, taken(LabNumber::highest)));
  CHECK(!number_of(begins_infinite, 1, taken(LabNumber::first)));
  const Rows unordered{{1, "a", "loss", 2, 3}, {1, "a", "loss", 0, std::nan("")}, {1, "a", "loss", 1, 2}};
  CHECK(number_of(unordered, 1, taken(LabNumber::last)) == 3);
  CHECK(number_of(unordered, 1, taken(LabNumber::lowest)) == 2);
}

TEST_CASE("labs: verdicts of differences, ratios, and of what is so in each seed") {
  const LabNumber a{.variant = "a", .quantity = "loss"}, b{.variant = "b", .quantity = "loss"};
  const Rows rows = some_rows();
  CHECK(judge({.words = "a is lower", .subject = a, .other = b}, rows).answer == Verdict::holds);
  CHECK(judge({.words = "b is lower", .subject = b, .other = a}, rows).answer == Verdict::does_not_hold);
  CHECK(judge({.words = "by 20", .subject = a, .other = b, .least = 20}, rows).answer ==
        Verdict::does_not_hold);
  CHECK(judge({.words = "b is 5 times a",
               .subject = b,
               .other = a,
               .direction = Claim::higher,
               .least = 5,
               .ratio = true},
              rows)
            .answer == Verdict::holds);
  CHECK(
      judge(
          {.words = "a is any times b", .subject = a, .other = b, .direction = Claim::higher, .ratio = true},
          rows)
          .answer == Verdict::does_not_hold);
  LabClaim exact{.words = "below 1.055", .subject = a, .other = {.is = 1.055}, .in_each_seed = true};
  CHECK(judge(exact, rows).answer == Verdict::cannot_be_told);  // 1.03 and 1.06 and 1.09
  exact.other.is = 2;
  CHECK(judge(exact, rows).answer == Verdict::holds);
  exact.least = 0.95;  // below 2 by so much: only the first seed is
  CHECK(judge(exact, rows).why.starts_with("in 1 of 3 seeds"));
  exact.least = 0;
  exact.other.is = 0.5;
  CHECK(judge(exact, rows).answer == Verdict::does_not_hold);
}

TEST_CASE("labs: what is exact everywhere but for a NaN does not hold") {
  const Rows rows{{1, "a", "change", 0.1, 1e-16}, {1, "a", "change", 10, std::nan("")}};
  const LabNumber highest{.variant = "a", .quantity = "change", .over = LabNumber::highest};
  CHECK(judge({.words = "stays", .subject = highest, .other = {.is = 1e-9}, .in_each_seed = true}, rows)
            .answer == Verdict::does_not_hold);
}

TEST_CASE("labs: what has no finite number did what the claim says, or diverged") {
  Rows rows = some_rows();
  for (Observation& row : rows)
    if (row.variant == "a") row.value = std::numeric_limits<double>::infinity();
  LabClaim claim{.words = "a is lower",
                 .subject = {.variant = "a", .quantity = "loss"},
                 .other = {.variant = "b", .quantity = "loss"}};
  CHECK(judge(claim, rows).why.starts_with("3 of 3 runs of a and 0 of 3 of b diverged ("));
  claim.without = "did not get there";
  CHECK(judge(claim, rows).why.starts_with("3 of 3 runs of a and 0 of 3 of b did not get there ("));
  for (const LabClaim& each : lab_named("sgd").claims)
    CHECK(each.without == (each.in_each_seed ? "diverged" : "did not get there"));
}

TEST_CASE("labs: each has a sentence, its source and claims that its rows can answer" *
          doctest::test_suite("slow")) {
  std::set<std::string> names;
  for (const Lab& lab : labs()) {
    CAPTURE(lab.name);
    CHECK(names.insert(lab.name).second);
    for (const std::string& words : {lab.title, lab.sentence, lab.source, lab.setting}) CHECK(!words.empty());
    CHECK(!lab.claims.empty());
    for (const LabClaim& claim : lab.claims) CHECK(!claim.words.empty());
    set_threads(1);
    Rows rows;
    for (const std::int64_t seed : {1, 2, 3}) {
      const Rows own = lab.measure(seed, true);
      rows.insert(rows.end(), own.begin(), own.end());
    }
    set_threads(0);
    CHECK(rows_of("again.csv", to_csv(rows)).size() == rows.size());
    CHECK(verdicts_of(lab, rows).size() == lab.claims.size());
    for (const LabChart& chart : lab.charts) CHECK(!variants_of(rows, chart.quantity).empty());
    CHECK(to_csv(lab.measure(1, true)) == to_csv(lab.measure(1, true)));
  }
}

TEST_CASE("labs: an unknown name says which there are") {
  CHECK_THROWS_WITH_AS(lab_named("nothing"), doctest::Contains("is no lab; there are "), UsageError);
}
