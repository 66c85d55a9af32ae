// steps.csv and initial.csv of a run: what train() writes of single updates and of the model before the first one.

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/ops.h"
#include "models/recording/steps_file.h"
#include "models/training/training.h"
#include "optim/clip.h"
#include "optim/sgd.h"
#include "tests/check.h"
#include "tests/core/distributed/pretended_rank.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr std::uint64_t epoch_steps = 60, epochs = 3;

/// Two numbers (w, v) that learn to be zero, with clipped gradients and a rate that falls. Its loss is w^2 + v^2 plus the
/// step, so that losses of different steps differ.
struct TwoNumbers final : Experiment {
  Tensor loss(std::uint64_t step) override {
    if (step == fails_at) throw DataError("killed");
    if (step > 0) seen.push_back(w.values()[0]);
    return sum(square(w)) + Tensor::from({1}, {static_cast<real>(step)});
  }
  bool shares_batches() const override { return true; }
  void adjust_gradients() override {
    clip_gradient_norm(parameters, real(0.1));
    sgd.options.learning_rate = real(0.5) / static_cast<real>(sgd.steps + 1);
  }
  Metrics evaluate(double mean_training_loss) override {
    return {{"train", mean_training_loss}, {"steps_done", static_cast<double>(sgd.steps)}};
  }
  std::vector<std::string> metric_names() const override { return {"train", "steps_done"}; }

  Parameters parameters{1};
  Tensor w = parameters.add("w", Tensor::from({2}, {3, 4}));
  Sgd sgd{parameters, {}};
  std::uint64_t fails_at = ~std::uint64_t{0};
  std::vector<real> seen;
};

RunFolder folder_at(const std::string& path) { return RunFolder::create(path, {.experiment = "test"}); }

Outcome train_in(const RunFolder& folder, TwoNumbers& numbers) {
  return train(folder, numbers.parameters, numbers.sgd, numbers,
               {.label = "test", .steps_per_epoch = epoch_steps, .epochs = epochs});
}

}  // namespace

TEST_CASE("steps.csv: every N-th update from the first on, at most fifty in an epoch") {
  const TemporaryFolder scratch;
  for (const std::uint64_t steps : {1u, 2u, 49u, 50u, 51u, 100u, 429u, 13750u}) {
    const RunFolder folder = folder_at(scratch / std::to_string(steps));
    const StepsFile file(folder, steps, 0);
    size_t rows = 0;
    for (std::uint64_t done = 0; done < steps; ++done) rows += file.has_row(done) ? 1 : 0;
    CAPTURE(steps);
    CHECK(file.has_row(0));
    CHECK(rows <= 50);
    CHECK(rows >= std::min<std::uint64_t>(steps, 25));
  }
  CHECK_FALSE(StepsFile().has_row(0));
  CHECK_NOTHROW(StepsFile().sync());
}

TEST_CASE("steps.csv: loss, norm of the gradient before clipping, and the rate of the update") {
  const TemporaryFolder scratch;
  const RunFolder folder = folder_at(scratch / "run");
  TwoNumbers numbers;
  CHECK(train_in(folder, numbers) == Outcome::finished);
  const Table table = read_table(folder.file(steps_file));
  CHECK(table.columns == std::vector<std::string>{"step", "train_loss", "gradient_norm", "learning_rate"});
  CHECK(table.rows.size() == epochs * epoch_steps / 2);
  CHECK(table.rows[0][0] == 1);
  CHECK(table.rows[0][1] == 25);                   // 3^2 + 4^2 + 0
  CHECK(table.rows[0][2] == doctest::Approx(10));  // norm2 of (6, 8); 0.1 behind the clipping
  CHECK(table.rows[0][3] == 0.5);
  for (size_t i = 1; i < table.rows.size(); ++i) {
    const std::vector<double>& row = table.rows[i];
    CAPTURE(i);
    CHECK(row[0] == static_cast<double>(2 * i + 1));
    const double length =
        5.0 / 3 * static_cast<double>(numbers.seen[2 * i - 1]);  // the direction stays (3, 4)
    CHECK(row[1] == doctest::Approx(length * length + static_cast<double>(2 * i)).epsilon(1e-5));
    CHECK(row[2] == doctest::Approx(2 * length).epsilon(1e-5));
    CHECK(row[3] == doctest::Approx(0.5 / row[0]));
  }
}

TEST_CASE("steps.csv: after a kill the same file, byte for byte") {
  const TemporaryFolder scratch;
  const RunFolder whole = folder_at(scratch / "whole"), killed = folder_at(scratch / "killed");
  TwoNumbers undisturbed;
  CHECK(train_in(whole, undisturbed) == Outcome::finished);
  const std::string expected = read_file(whole.file(steps_file));
  for (const std::uint64_t step : {20u, 75u, 119u, 150u}) {
    TwoNumbers numbers;
    numbers.fails_at = step;
    CHECK_THROWS_WITH_AS(train_in(killed, numbers), "killed", DataError);
    const std::string rows = read_file(killed.file(steps_file));
    CHECK(expected.starts_with(rows));
    CHECK(table_of("rows", rows).rows.size() == (step + 1) / 2);
    append_to_file(killed.file(steps_file), "177,1.5");  // what the kill cut off
  }
  TwoNumbers numbers;
  CHECK(train_in(killed, numbers) == Outcome::finished);
  CHECK(read_file(killed.file(steps_file)) == expected);

  // Of an older version, or removed: the run goes on, and the file begins where it does.
  std::filesystem::remove(killed.file(steps_file));
  std::filesystem::remove(killed.file(initial_file));
  TwoNumbers again;
  CHECK(train(killed, again.parameters, again.sgd, again,
              {.label = "test", .steps_per_epoch = epoch_steps, .epochs = epochs + 1}) == Outcome::finished);
  CHECK(read_table(killed.file(steps_file)).column("step").front() == epochs * epoch_steps + 1);
  CHECK_FALSE(exists(killed.file(initial_file)));
}

TEST_CASE("steps.csv: a damaged line is named before anything is changed") {
  const TemporaryFolder scratch;
  const RunFolder folder = folder_at(scratch / "run");
  TwoNumbers numbers;
  numbers.fails_at = 70;
  CHECK_THROWS_AS(train_in(folder, numbers), DataError);
  const std::string path = folder.file(steps_file),
                    damaged = "step,train_loss,gradient_norm,learning_rate\n1,x,2,3\n";
  write_file(path, damaged);
  TwoNumbers again;
  CHECK_ERROR(train_in(folder, again), path + ": line 2: 'x' is not a number; remove the line");
  CHECK(read_file(path) == damaged);
  CHECK(again.seen.empty());
}

TEST_CASE("initial.csv: the model before its first update, apart from metrics.csv") {
  const TemporaryFolder scratch;
  const RunFolder folder = folder_at(scratch / "run");
  TwoNumbers numbers;
  CHECK(train_in(folder, numbers) == Outcome::finished);
  const Table initial = read_table(folder.file(initial_file)),
              metrics = read_table(folder.file("metrics.csv"));
  CHECK(initial.columns == metrics.columns);
  REQUIRE(initial.rows.size() == 1);
  CHECK(initial.column("epoch")[0] == 0);
  CHECK(initial.column("step")[0] == 0);
  CHECK(std::isnan(initial.column("train")[0]));
  CHECK(initial.column("steps_done")[0] == 0);
  CHECK(metrics.rows.size() == epochs);
  CHECK(metrics.column("step").front() == epoch_steps);
}

TEST_CASE("steps.csv and initial.csv: only the first of several ranks writes them") {
  const TemporaryFolder scratch;
  const RunFolder folder = folder_at(scratch / "run");
  {
    const PretendedRank rank(1, 2);
    TwoNumbers numbers;
    CHECK(train_in(folder, numbers) == Outcome::followed);
    CHECK_FALSE(exists(folder.file(steps_file)));
    CHECK_FALSE(exists(folder.file(initial_file)));
  }
  const PretendedRank rank(0, 2);
  TwoNumbers numbers;
  CHECK(train_in(folder, numbers) == Outcome::finished);
  CHECK(exists(folder.file(steps_file)));
  CHECK(exists(folder.file(initial_file)));
}
