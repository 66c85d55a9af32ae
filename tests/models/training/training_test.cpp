// The training loop: a loss that is not finite, and memory in the steady state.

#include "models/training/training.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "core/tape.h"
#include "models/mnist/experiment.h"
#include "models/run/metrics.h"
#include "optim/adam.h"
#include "optim/sgd.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

/// The loss of step n is n.
struct Counting : Experiment {
  Tensor loss(std::uint64_t step) override { return sum(x * 0) + static_cast<real>(step + 1); }
  Metrics evaluate(double mean_training_loss) override { return {{"loss", mean_training_loss}}; }
  std::vector<std::string> metric_names() const override { return {"loss"}; }

  Parameters parameters{1};
  Tensor x = parameters.add("x", Tensor::ones({3}));
  Adam adam{parameters, {}};
};

}  // namespace

TEST_CASE("training: a run that goes on after a shortened period has means of the losses since") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "counting"});
  for (const std::uint64_t updates : {5U, 9U}) {
    Counting counting;
    CHECK(train(folder, counting.parameters, counting.adam, counting,
                plan_in_periods("test", updates, 3, "report")) == Outcome::finished);
  }
  const Table rows = read_table(folder.file("metrics.csv"));
  CHECK(rows.column("step") == std::vector<double>{3, 5, 6, 9});
  CHECK(rows.column("loss") == std::vector<double>{2, 4.5, 6, 8});  // of 1 2 3, 4 5, 6, 7 8 9
}

TEST_CASE("training: a metric that is named and not measured is an error, and so is one that is only shown") {
  struct Forgetful final : Counting {
    std::vector<std::string> metric_names() const override { return names; }
    std::vector<std::string> shown_metrics() const override { return shown; }
    std::vector<std::string> names, shown;
  };
  const TemporaryFolder scratch;
  const auto complaint = [&](const std::string& path, const std::vector<std::string>& names,
                             const std::vector<std::string>& shown) {
    const RunFolder folder = RunFolder::create(scratch / path, {.experiment = "counting"});
    Forgetful experiment;
    experiment.names = names;
    experiment.shown = shown;
    return test::error_of(
        [&] { train(folder, experiment.parameters, experiment.adam, experiment, {.label = "test"}); });
  };
  CHECK(complaint("named", {"loss", "error"}, {}) ==
        "training: evaluate() returned no 'error', which metric_names() has; measure it or drop it");
  CHECK(complaint("shown", {"loss"}, {"los"}) ==
        "training: shown_metrics() has 'los', which metric_names() does not have; add it there");
}

TEST_CASE("training: a metric that is measured twice is an error, and its name may be built") {
  struct Twice final : Counting {
    Metrics evaluate(double loss) override {
      Metrics all;
      for (int i = 0; i < 2; ++i) all.emplace_back("a_metric_of_class_number_" + std::to_string(0), loss);
      return all;
    }
    std::vector<std::string> metric_names() const override { return {"a_metric_of_class_number_0"}; }
  };
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "counting"});
  Twice experiment;
  CHECK(test::error_of([&] {
          train(folder, experiment.parameters, experiment.adam, experiment, {.label = "test"});
        }) == "training: evaluate() returned 'a_metric_of_class_number_0' twice; return each metric once");
}

TEST_CASE("training: a run of an optimizer that has taken steps before goes on") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "counting"});
  for (const std::uint64_t epochs : {1U, 2U}) {
    Counting counting;
    for (int step = 0; step < 3; ++step) {
      Tape tape;
      tape.backward(counting.loss(0));
      counting.adam.step();
    }
    CHECK(train(folder, counting.parameters, counting.adam, counting,
                {.label = "test", .steps_per_epoch = 4, .epochs = epochs}) == Outcome::finished);
    CHECK(counting.adam.steps == 3 + 4 * epochs);
  }
  CHECK(read_table(folder.file("metrics.csv")).column("step") == std::vector<double>{4, 8});
}

TEST_CASE("training: gradients that an evaluation leaves behind are no part of the next step") {
  struct Curious final : Counting {
    Tensor loss(std::uint64_t) override { return sum(square(x)); }
    Metrics evaluate(double mean_training_loss) override {
      if (!looks) return Counting::evaluate(mean_training_loss);
      Tape tape;
      tape.backward(sum(x * real(100)));
      return {{"loss", mean_training_loss}};
    }
    bool looks = false;
  };
  const TemporaryFolder scratch;
  const auto trained = [&](bool looks, const std::string& path) {
    Curious curious;
    curious.looks = looks;
    train(RunFolder::create(scratch / path, {.experiment = "curious"}), curious.parameters, curious.adam,
          curious, {.label = "test", .steps_per_epoch = 1, .epochs = 3});
    return curious.x.copy();
  };
  CHECK(test::identical(trained(true, "looking"), trained(false, "plain")));
}

TEST_CASE("training: after_update() sees the weights that the step has left") {
  struct Averaged final : Counting {
    Tensor loss(std::uint64_t /*step*/) override { return sum(x); }
    void after_update() override { seen.push_back(x[0]); }
    std::vector<real> seen;
  };
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "counting"});
  Averaged experiment;
  const real before = experiment.x[0];
  train(folder, experiment.parameters, experiment.adam, experiment, {.label = "test", .steps_per_epoch = 3});
  REQUIRE(experiment.seen.size() == 3);
  CHECK(experiment.seen[0] < before);
  CHECK(experiment.seen[2] < experiment.seen[1]);
  CHECK(experiment.seen[2] == experiment.x[0]);
}

TEST_CASE(
    "training: a folder that was moved meanwhile gets no line more, and neither does the run now in its "
    "place") {
  struct Moved final : Counting {
    Tensor loss(std::uint64_t step) override {
      if (step == 3) move();
      return Counting::loss(step);
    }
    std::function<void()> move;
  };
  const TemporaryFolder scratch;
  const std::string path = scratch / "run";
  std::optional<RunFolder> other;
  Moved experiment;
  experiment.move = [&] {
    std::filesystem::rename(path, scratch / "moved");
    other = RunFolder::create(path, {.experiment = "counting", .variant = "other"});
  };
  const RunFolder folder = RunFolder::create(path, {.experiment = "counting"});
  const TrainingPlan plan{.label = "test", .steps_per_epoch = 2, .epochs = 3};
  CHECK(test::contains(
      test::error_of([&] { train(folder, experiment.parameters, experiment.adam, experiment, plan); }),
      "was moved or removed while it was trained in"));
  CHECK(read_table(scratch / "moved/metrics.csv").column("step") == std::vector<double>{2});
  for (const auto& entry : std::filesystem::directory_iterator(path))
    CHECK((entry.path().filename() == "config.json" || entry.path().filename() == "lock"));
}

TEST_CASE("training: a run is not resumed with another optimizer, and the error says so") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "counting"});
  Counting counting, again;
  train(folder, counting.parameters, counting.adam, counting, {.label = "test"});
  Sgd sgd(again.parameters, {});
  CHECK_THROWS_WITH_AS(
      train(folder, again.parameters, sgd, again, {.label = "test", .epochs = 2}),
      doctest::Contains("state: is of a run with another optimizer than sgd; resume with the one it "
                        "began with"),
      DataError);
}

TEST_CASE("training: every epoch takes each case once, in an order of its own that its number tells") {
  EpochOrder order(1, 12, 4);
  const auto cases_of = [&](std::uint64_t epoch) {
    std::vector<int> all;
    for (std::uint64_t step = 3 * epoch; step < 3 * epoch + 3; ++step)
      std::ranges::copy(order.batch_of(step), std::back_inserter(all));
    return all;
  };
  const std::vector<int> first = cases_of(0), second = cases_of(1);
  CHECK(first != second);
  CHECK(cases_of(0) == first);
  for (std::vector<int> all : {first, second}) {
    std::ranges::sort(all);
    CHECK(all == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  }
}

TEST_CASE("training: epochs without a step are refused") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "counting"});
  Counting counting;
  const auto train_with = [&](const TrainingPlan& plan) {
    train(folder, counting.parameters, counting.adam, counting, plan);
  };
  EpochOrder order(1, 5, 8);
  CHECK(order.steps_per_epoch() == 0);
  CHECK(EpochOrder(1, 5, 0).steps_per_epoch() == 0);
  CHECK_ERROR(order.batch_of(0), "epoch order: batches of 8 from 5 cases; choose from 1 to 5");
  CHECK_ERROR(train_with({.label = "test", .steps_per_epoch = 0, .epochs = 2}),
              "training: epochs of 0 steps, the last one of 0; give them at least one step, and the last one "
              "no more than the others");
  CHECK_ERROR(train_with({.label = "test", .steps_per_epoch = 2, .epochs = 1, .last_epoch_steps = 3}),
              "training: epochs of 2 steps, the last one of 3; give them at least one step, and the last one "
              "no more than the others");
  CHECK_ERROR(train_with({.label = "test", .steps_per_epoch = 2, .epochs = 0, .last_epoch_steps = 1}),
              "training: 0 epochs, the last one of 1 steps; ask for at least one epoch");
  CHECK_ERROR(plan_in_periods("test", 0, 3, "report"),
              "training: 0 steps, evaluated every 3; both must be positive");
  CHECK_ERROR(plan_in_periods("test", 3, 0, "report"),
              "training: 3 steps, evaluated every 0; both must be positive");
}

TEST_CASE("training: a metric with the name of another column is refused") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "counting"});
  Counting counting;
  CHECK_ERROR(train(folder, counting.parameters, counting.adam, counting,
                    {.label = "test", .steps_per_epoch = 2, .epochs = 1, .epoch = "loss"}),
              "training: metrics.csv would have two columns 'loss'; rename the metric, or the plan's epoch");
}

TEST_CASE("training: more updates than can be counted are refused") {
  CHECK(updates_in(60, 429) == 25740);
  CHECK(updates_in(std::uint64_t{1} << 53, 1) == std::uint64_t{1} << 53);
  CHECK(updates_in(7, 0) == 0);
  for (const std::uint64_t steps : {2U, 4U, 1000U})  // times 4 it is 0 in 64 bits
    CHECK(message_of<UsageError>([&] {
            updates_in(std::uint64_t{1} << 62, steps);
          }).starts_with("--epochs 4611686018427387904: "));
}

TEST_CASE("a NaN in the data stops training with the step, the op and the checkpoint that is left") {
  const TemporaryFolder scratch;
  MnistData data = synthetic_mnist(1, 64, 16, 16);
  mnist::MnistExperiment experiment(data, {.norm = Norm::layer, .batch = 16});
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "mnist"});
  const TrainingPlan plan{.label = "test", .steps_per_epoch = 4, .epochs = 1};
  CHECK(train(folder, experiment.parameters, experiment.optimizer(), experiment, plan) == Outcome::finished);
  const auto kept = std::filesystem::last_write_time(folder.file("state"));

  for (real& pixel : data.train.pixels) pixel = std::numeric_limits<real>::quiet_NaN();
  const TrainingPlan longer{.label = "test", .steps_per_epoch = 4, .epochs = 2};
  const std::string message = message_of<DataError>(
      [&] { train(folder, experiment.parameters, experiment.optimizer(), experiment, longer); });
  CHECK(message.find("the loss is nan in step 5, first in the op 'linear'") != std::string::npos);
  CHECK(message.find("the state of step 4 is kept") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(std::filesystem::last_write_time(folder.file("state")) == kept);
}
