// The files of a run that was saved: what train() accepts when it resumes from them, what it refuses, and
// that it never replaces a good one with a useless one.

#include <doctest/doctest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <sstream>

#include "core/files/checkpoint.h"
#include "core/files/file.h"
#include "core/ops.h"
#include "layers/linear.h"
#include "models/recording/record.h"
#include "models/run/metrics.h"
#include "models/run/run_state.h"
#include "models/training/training.h"
#include "optim/adam.h"
#include "optim/clip.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using lamina::test::contains;
namespace fs = std::filesystem;

namespace {

/// Two parameters that learn to be small. `spoil` may change gradients, parameters or a metric.
struct TinyExperiment final : Experiment {
  TinyExperiment() : linear(parameters, "linear", {.input = 2, .output = 1}), adam(parameters, {}) {}
  Tensor loss(std::uint64_t step) override {
    const auto x = static_cast<real>(step % 3 + 1);
    return mean(square(linear(Tensor::from({1, 2}, {x, 1}))));
  }
  void adjust_gradients() override {
    if (adam.steps == spoilt_step) parameters.gradients()[0] = gradient;
    if (clips) clip_gradient_norm(parameters, 1);
  }
  Metrics evaluate(double mean_training_loss) override {
    ++evaluations;
    return {{"train_nll", mean_training_loss}, {"valid_nll", metric}};
  }
  std::vector<std::string> metric_names() const override { return {"train_nll", "valid_nll"}; }

  Parameters parameters{1};
  Linear linear;
  Adam adam;
  std::uint64_t spoilt_step = ~std::uint64_t{0};
  bool clips = false;
  real gradient = std::numeric_limits<real>::infinity();
  double metric = 1;
  int evaluations = 0;
};

constexpr std::uint64_t epoch_steps = 4;

TrainingPlan plan_of(std::uint64_t epochs) {
  return {.label = "test", .steps_per_epoch = epoch_steps, .epochs = epochs};
}

Outcome train_in(const RunFolder& folder, TinyExperiment& experiment, std::uint64_t epochs) {
  return train(folder, experiment.parameters, experiment.adam, experiment, plan_of(epochs));
}

/// A run of this many epochs.
RunFolder trained(const std::string& path, std::uint64_t epochs, std::int64_t record = 0) {
  RunConfig config{.experiment = "test"};
  config.settings.set("record", record);
  RunFolder folder = RunFolder::create(path, config);
  TinyExperiment experiment;
  CHECK(train_in(folder, experiment, epochs) == Outcome::finished);
  return folder;
}

std::string refusal(const RunFolder& folder, std::uint64_t epochs = 3) {
  TinyExperiment experiment;
  return message_of<DataError>([&] { train_in(folder, experiment, epochs); });
}

/// metrics.csv without its last column, the seconds.
std::vector<std::vector<double>> rows_of(const RunFolder& folder) {
  std::vector<std::vector<double>> rows = read_table(folder.file("metrics.csv")).rows;
  for (auto& row : rows) row.pop_back();
  return rows;
}

/// Changes one entry of the state's metadata; an empty value removes it.
void edit_state(const RunFolder& folder, const std::string& key, const std::string& value) {
  Checkpoint state = load_checkpoint(folder.file("state"));
  if (value.empty())
    state.metadata.erase(key);
  else
    state.metadata[key] = value;
  save_checkpoint(folder.file("state"), state);
}

/// Sets the first value of a tensor in a file.
void edit_tensor(const std::string& path, const std::string& name, real value) {
  Checkpoint file = load_checkpoint(path);
  for (auto& entry : file.tensors)
    if (entry.name == name) entry.value.data()[0] = value;
  save_checkpoint(path, file);
}

constexpr real infinite = std::numeric_limits<real>::infinity(),
               not_a_number = std::numeric_limits<real>::quiet_NaN();

}  // namespace

TEST_CASE("a damaged metrics.csv is written again from the state, whether the run is finished or not") {
  const TemporaryFolder scratch;
  const auto whole = rows_of(trained(scratch / "whole", 3));
  const RunFolder folder = trained(scratch / "run", 2);
  const std::string path = folder.file("metrics.csv"), good = read_file(path);
  const size_t second = good.find('\n') + 1, third = good.find('\n', second) + 1;
  for (const std::uint64_t epochs : {2u, 3u})
    for (const std::string& damaged :
         {std::string(), good.substr(0, second), good.substr(0, good.size() - 9), std::string("nonsense\n"),
          good.substr(0, second) + good.substr(third), good.substr(0, second) + "1,x\n", good.substr(0, 7)}) {
      CAPTURE(epochs);
      CAPTURE(damaged);
      const std::string state = read_file(folder.file("state"));
      write_file(path, damaged);
      if (damaged.empty()) fs::remove(path);
      TinyExperiment experiment;
      CHECK(train_in(folder, experiment, epochs) == Outcome::finished);
      CHECK(rows_of(folder) == std::vector(whole.begin(), whole.begin() + static_cast<int>(epochs)));
      write_file(folder.file("state"), state);
      write_file(path, good);
    }
}

TEST_CASE(
    "without rows in the state, as older versions wrote it, rows that are missing are a reason to stop") {
  const TemporaryFolder scratch;
  const RunFolder folder = trained(scratch / "run", 2);
  const std::string path = folder.file("metrics.csv"), good = read_file(path);
  edit_state(folder, "metrics", "");
  for (const std::string& damaged : {std::string(), good.substr(0, 5), good.substr(0, good.find('\n') + 1)}) {
    write_file(path, damaged);
    CHECK(contains(refusal(folder), path + ": lacks 2 of the 2 rows"));
    CHECK(read_file(path) == damaged);
  }
  write_file(path, good);
  CHECK(refusal(folder).empty());
  CHECK(rows_of(folder).size() == 3);
}

TEST_CASE("rows without a state are not thrown away") {
  const TemporaryFolder scratch;
  const RunFolder folder = trained(scratch / "run", 2);
  const std::string rows = read_file(folder.file("metrics.csv"));
  fs::remove(folder.file("state"));
  CHECK(contains(refusal(folder), "metrics.csv: holds 2 rows, but " + folder.file("state") + " is missing"));
  CHECK(read_file(folder.file("metrics.csv")) == rows);
}

TEST_CASE("an update that is not finite never replaces the last good state") {
  const TemporaryFolder scratch;
  for (const real gradient : {infinite, not_a_number}) {
    const RunFolder folder = trained(scratch / std::to_string(std::isnan(gradient)), 1);
    const std::string state = read_file(folder.file("state")),
                      model = read_file(folder.file("model.safetensors"));
    TinyExperiment experiment;
    experiment.spoilt_step = 2 * epoch_steps - 1;  // the last one of the second epoch
    experiment.gradient = gradient;
    const std::string message = message_of<DataError>([&] { train_in(folder, experiment, 2); });
    CHECK(contains(message, "is not finite after the update of step 8, first in the op 'linear'"));
    CHECK(contains(message, "the state of step 4 is kept"));
    CHECK(experiment.evaluations == 0);
    CHECK(read_file(folder.file("state")) == state);
    CHECK(read_file(folder.file("model.safetensors")) == model);
    CHECK(refusal(folder, 2).empty());
  }
}

TEST_CASE("a gradient that is not finite stops the run where it is clipped") {
  const TemporaryFolder scratch;
  const RunFolder folder = trained(scratch / "run", 1);
  const std::string state = read_file(folder.file("state"));
  TinyExperiment experiment;
  experiment.spoilt_step = epoch_steps + 1;
  experiment.clips = true;
  const std::string message = message_of<DataError>([&] { train_in(folder, experiment, 2); });
  CHECK(message ==
        folder.path() +
            ": step 6: clip: the gradient of 'linear.weight' has a value of inf; the state of step 4 is "
            "kept; lower --lr or look for such values in the data");
  CHECK(read_file(folder.file("state")) == state);
  CHECK(fs::exists(folder.file("diverged.txt")));
  CHECK(refusal(folder, 2).empty());
  CHECK_FALSE(fs::exists(folder.file("diverged.txt")));  // it went on well
}

TEST_CASE("a metric that is not finite stops the run before it is saved") {
  const TemporaryFolder scratch;
  const RunFolder folder = trained(scratch / "run", 1);
  const std::string state = read_file(folder.file("state"));
  TinyExperiment experiment;
  experiment.metric = std::numeric_limits<double>::quiet_NaN();
  const std::string message = message_of<DataError>([&] { train_in(folder, experiment, 2); });
  CHECK(contains(message, "valid_nll is nan after step 8; the state of step 4 is kept"));
  CHECK(read_file(folder.file("state")) == state);
  CHECK(rows_of(folder).size() == 1);
}

TEST_CASE("a state whose numbers are wrong is refused and stays as it is") {
  const TemporaryFolder scratch;
  const RunFolder folder = trained(scratch / "run", 2);
  const std::string path = folder.file("state"), good = read_file(path);
  const auto refused_with = [&](const std::string& reason) {
    const std::string bad = read_file(path), rows = read_file(folder.file("metrics.csv"));
    const std::string message = refusal(folder);
    CAPTURE(message);
    CHECK(message.starts_with(path + ": "));
    CHECK(contains(message, reason));
    CHECK(read_file(path) == bad);
    CHECK(read_file(folder.file("metrics.csv")) == rows);
    write_file(path, good);
  };
  for (const char* const step : {"abc", "-1", "8x", "8 ", " 8", "99999999999999999999", "0x8"}) {
    edit_state(folder, "step", step);
    refused_with("which is no whole number");
  }
  edit_state(folder, "step", "");
  refused_with("holds no 'step'");
  edit_state(folder, "adam.steps", "7");
  refused_with("its 'adam.steps' is less than its 'step'");
  for (const char* const seconds : {"nan", "inf", "1.5.", "soon"}) {
    edit_state(folder, "seconds", seconds);
    refused_with("which is no finite number");
  }
  edit_state(folder, "step", "400");
  edit_state(folder, "adam.steps", "400");
  refused_with("is of step 400, and the run ends after 12");
  for (const char* const name : {"linear.weight", "adam.first_moment", "adam.second_moment"})
    for (const real value : {not_a_number, infinite}) {
      edit_tensor(path, name, value);
      refused_with(text("'", name, "' holds numbers that are not finite"));
    }
  write_file(path, good.substr(0, good.size() / 2));
  refused_with("not a usable checkpoint");
  write_file(path, good + "more");
  refused_with("not a usable checkpoint");
  CHECK(refusal(folder).empty());
}

TEST_CASE("a damaged model is refused under --resume, and a missing one is written again") {
  const TemporaryFolder scratch;
  const RunFolder folder = trained(scratch / "run", 2);
  const std::string path = folder.file("model.safetensors"), good = read_file(path);
  for (const std::string& bad : {std::string(), good.substr(0, good.size() - 1), good + "x"}) {
    write_file(path, bad);
    CHECK(refusal(folder).starts_with(path + ": "));
    CHECK(read_file(path) == bad);
  }
  write_file(path, good);
  edit_tensor(path, "linear.weight", not_a_number);
  CHECK(contains(refusal(folder), "holds numbers that are not finite"));
  TinyExperiment experiment;
  CHECK_THROWS_WITH_AS(load_model(folder, experiment.parameters), doctest::Contains("not finite"), DataError);
  fs::remove(path);
  CHECK(refusal(folder, 2).empty());
  CHECK(read_file(path) == good);
}

TEST_CASE("a run of updates ends after as many as were asked for") {
  const TemporaryFolder scratch;
  for (const std::uint64_t steps : {1u, 7u, 8u, 9u}) {
    const RunFolder folder = RunFolder::create(scratch / std::to_string(steps), {.experiment = "test"});
    TinyExperiment experiment;
    const TrainingPlan plan = plan_in_periods("test", steps, 4, "report");
    CHECK(train(folder, experiment.parameters, experiment.adam, experiment, plan) == Outcome::finished);
    CHECK(experiment.adam.steps == steps);
    const Table table = read_table(folder.file("metrics.csv"));
    CHECK(table.rows.size() == (steps + 3) / 4);
    CHECK(table.column("step").back() == static_cast<double>(steps));
    CHECK(table.column("report").back() == static_cast<double>((steps + 3) / 4));
  }
}

TEST_CASE("a state has what a run that goes on needs within an epoch") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "test"});
  TinyExperiment experiment;
  experiment.adam.steps = 6;
  save_state(folder, experiment.parameters, experiment.adam,
             {.step = 6, .loss_sum = 0.1, .seconds = 12.3, .metrics = "epoch,step\n1,4\n"});
  experiment.adam.steps = 0;
  const Position position = load_state(folder, experiment.parameters, experiment.adam, 8);
  CHECK(position.step == 6);
  CHECK(position.loss_sum == 0.1);
  CHECK(position.seconds == 12.3);
  CHECK(position.metrics == "epoch,step\n1,4\n");
  CHECK(experiment.adam.steps == 6);
}

TEST_CASE("numbers beside a model read back as the same doubles, in the digits of printf") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "test"});
  const TinyExperiment experiment;
  for (const double number : {0.0, -0.0, 1.0, -1.5, 0.1, 1e308, -2.2250738585072014e-308, 5e-324}) {
    CAPTURE(number);
    save_model(folder, experiment.parameters, "best", {{"loss", exact(number)}});
    const double kept = number_kept(folder, "best", "loss", 2);
    CHECK(kept == number);
    CHECK(std::signbit(kept) == std::signbit(number));
  }
  CHECK(exact(-1.5) == "-0x1.8p+0");
}

TEST_CASE("a best model that is gone is a reason to stop once the run has evaluated models") {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "test"});
  TinyExperiment experiment;
  const auto kept = [&] { return number_kept(folder, "best.safetensors", "loss", 2); };
  CHECK(kept() == 2);
  save_state(folder, experiment.parameters, experiment.adam,
             {.metrics = "epoch,step,train_nll,valid_nll,seconds\n"});
  CHECK(kept() == 2);  // interrupted before its first evaluation
  CHECK(train_in(folder, experiment, 1) == Outcome::finished);
  CHECK(
      message_of<DataError>(kept) ==
      folder.file("best.safetensors") +
          ": is missing, and with it what was best so far; restore it, or start a new run in another folder");
  save_model(folder, experiment.parameters, "best.safetensors", {{"loss", exact(1)}});
  CHECK(kept() == 1);
}

TEST_CASE("a record that lost rows goes on without them") {
  const TemporaryFolder scratch;
  const RunFolder folder = trained(scratch / "run", 2, 3);
  fs::remove(folder.file("record.csv"));
  CHECK(refusal(folder).empty());
  const std::vector<RecordRow> rows = read_record(folder.file("record.csv"));
  REQUIRE(!rows.empty());
  CHECK(rows.front().step == 10);
}

TEST_CASE("a resumed run counts its seconds on, and keeps the record of the step that it was saved after") {
  const TemporaryFolder scratch;
  const RunFolder folder = trained(scratch / "run", 1, 1);  // every step is recorded
  const std::string record = folder.file("record.csv"), before = read_file(record);
  edit_state(folder, "seconds", "1000");
  TinyExperiment experiment;
  CHECK(train_in(folder, experiment, 2) == Outcome::finished);
  CHECK(read_table(folder.file("metrics.csv")).column("seconds").back() >= 1000);
  CHECK(read_file(record).starts_with(before));
}

TEST_CASE("a record that lacks steps says so, of the last one too") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "record.csv";
  std::ostringstream said;
  std::streambuf* const usual = std::cerr.rdbuf(said.rdbuf());
  for (const char* const rows : {"1,a,b,,0.5\n", "1,a,b,,0.5\n3,a,b,,0.5\n"}) {
    write_file(path, std::string("step,layer,quantity,time,value\n") + rows);
    RecordFile(path, 3, 2);  // after three steps, of which the first and the third are recorded
  }
  std::cerr.rdbuf(usual);
  CHECK(said.str() == path + ": lacks 1 of the 2 steps that were recorded; the run goes on without them\n");
}

TEST_CASE("a record whose last row has no line end says so, unless a kill after the checkpoint has left it") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "record.csv";
  std::ostringstream said;
  std::streambuf* const usual = std::cerr.rdbuf(said.rdbuf());
  for (const std::uint64_t last_step : {1u, 2u}) {
    write_file(path, "step,layer,quantity,time,value\n1,a,b,,0.5\n2,a,b,,0.5\n2,c,b,,0.25");
    RecordFile(path, last_step, 1);
  }
  std::cerr.rdbuf(usual);
  CHECK(said.str() ==
        path + ": its last row has no line end, so it may be cut off; the run goes on without it\n");
}
