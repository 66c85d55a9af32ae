// The inspector: what it reads, how it filters, and its errors when there is nothing to show.

#include "models/analysis/inspect.h"

#include <filesystem>
#include <limits>

#include "core/files/file.h"
#include "layers/linear.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// A run with one layer of two units, w = (3, 4) and (0, 1), and batch norm's running mean.
RunFolder small_run(const std::string& path) {
  const RunFolder folder = RunFolder::create(path, {.experiment = "mnist"});
  save_checkpoint(folder.file("model.safetensors"),
                  {.tensors = {{"hidden1.norm.running_mean", Tensor::from({2}, {1, 3})},
                               {"hidden1.weight", Tensor::from({2, 2}, {3, 0, 4, 1})},
                               {"logits.bias", Tensor::from({3}, {-1, 0, 4})}},
                   .metadata = {}});
  return folder;
}

const std::vector<RecordRow> rows = {{1, "rnn", "hidden.length", 1, 2},
                                     {1, "rnn", "hidden.length", 2, 4},
                                     {1, "rnn", "input_weight.angle.mean", 0, 0.5},
                                     {1, "rnn", "hidden_weight.angle.mean", 0, 0.25},
                                     {1, "out", "weight.angle.mean", 0, 0.125},
                                     {9, "rnn", "hidden.length", 1, 6},
                                     {9, "rnn", "hidden.length", 2, 6},
                                     {9, "out", "weight.angle.mean", 0, 0.0625}};

}  // namespace

TEST_CASE("the saved model: lengths of weight vectors, values of everything else") {
  const TemporaryFolder scratch;
  const Inspection seen = inspect(small_run(scratch / "run"));
  REQUIRE(seen.tensors.size() == 3);
  const InspectedTensor &weight = seen.tensors[0], &mean = seen.tensors[1], &bias = seen.tensors[2];
  CHECK(weight.layer == "hidden1");
  CHECK(weight.name == "weight");
  CHECK(weight.vectors);
  CHECK(weight.summary.mean == doctest::Approx(3));  // of 5 and 1
  CHECK(weight.summary.deviation == doctest::Approx(2));
  CHECK(weight.summary.min == doctest::Approx(1));
  CHECK(weight.summary.max == doctest::Approx(5));
  CHECK(mean.layer == "hidden1.norm");
  CHECK(mean.summary.mean == doctest::Approx(2));
  CHECK(!bias.vectors);
  CHECK(bias.summary.max == 4);
  CHECK(to_csv({bias}) == "layer,parameter,shape,of,mean,deviation,min,max\nlogits,bias,[3],values,1," +
                              std::string("2.160246899469287,-1,4\n"));
  CHECK(contains(tensor_table({weight}), "| hidden1.weight, lengths |"));
  CHECK(contains(tensor_table({bias}), "| logits.bias | [3] | 1 | 2.16 | -1 | 4 |"));
}

TEST_CASE("the saved model: one number that is NaN shows in all that is said of its tensor") {
  const real nan = std::numeric_limits<real>::quiet_NaN();
  const TemporaryFolder scratch;
  const RunFolder run = small_run(scratch / "run");
  save_checkpoint(run.file("model.safetensors"),
                  {.tensors = {{"hidden1.weight", Tensor::from({2, 2}, {3, nan, 4, 1})},
                               {"logits.bias", Tensor::from({3}, {nan, 0, 4})}},
                   .metadata = {}});
  for (const InspectedTensor& tensor : inspect(run).tensors) {
    CHECK(contains(tensor_table({tensor}), "| NaN | NaN | NaN | NaN |"));
    CHECK(contains(to_csv({tensor}), ",nan,nan,nan,nan"));
  }
}

TEST_CASE("one layer, with those inside it; others are listed") {
  const TemporaryFolder scratch;
  const Inspection all = inspect(small_run(scratch / "run"));
  CHECK(only_layer(all, "hidden1").tensors.size() == 2);
  CHECK(only_layer(all, "hidden1.norm").tensors.size() == 1);
  CHECK(message_of<UsageError>([&] { only_layer(all, "hidden"); }) ==
        "--layer hidden: no such layer; there are hidden1, hidden1.norm, logits");
}

TEST_CASE("a record as series and tables") {
  const auto angles = over_steps(rows, "angle.mean");
  REQUIRE(angles.size() == 3);
  CHECK(angles[0].title == "rnn input_weight");
  CHECK(angles[1].title == "rnn hidden_weight");
  CHECK(angles[2].title == "out");
  CHECK(angles[2].x == std::vector<double>{1, 9});
  CHECK(angles[2].y == std::vector<double>{0.125, 0.0625});
  CHECK(over_steps(rows, "hidden.length")[0].y == std::vector<double>{3, 6});  // means over time
  const auto time = over_time(rows, "hidden.length", 1);
  REQUIRE(time.size() == 1);
  CHECK(time[0].x == std::vector<double>{1, 2});
  CHECK(time[0].y == std::vector<double>{2, 4});
  CHECK(over_time(rows, "angle.mean", 1).empty());
  CHECK(contains(step_tables(rows, 9), "| out |  |  | 0.0625 |  |  |"));
}

TEST_CASE("the gradients of all weights: of recurrent layers and embeddings too, and of nothing else") {
  const std::vector<RecordRow> all = {{1, "rnn", "hidden.gradient", 1, 9},
                                      {1, "rnn", "input_weight.gradient", 0, 3},
                                      {1, "rnn", "hidden_weight.gradient", 0, 4},
                                      {1, "rnn", "bias.gradient", 0, 9},
                                      {1, "words", "value.gradient", 0, 5},
                                      {1, "out", "weight.gradient", 0, 6},
                                      {1, "out", "bias.gradient", 0, 9},
                                      {1, "rnn", "input_weight.length.mean", 0, 1},
                                      {1, "rnn", "hidden_weight.length.mean", 0, 1},
                                      {1, "words", "value.length.mean", 0, 1},
                                      {1, "out", "weight.length.mean", 0, 1}};
  const std::vector<Series> gradients = weight_gradients(all);
  std::vector<std::string> titles;
  std::vector<double> values;
  for (const Series& series : gradients) {
    titles.push_back(series.title);
    values.push_back(series.y.at(0));
  }
  CHECK(titles == std::vector<std::string>{"rnn input_weight", "rnn hidden_weight", "words", "out"});
  CHECK(values == std::vector<double>{3, 4, 5, 6});
}

TEST_CASE("folders without a run, or with several") {
  const TemporaryFolder scratch;
  CHECK(message_of<DataError>([&] { RunFolder::open(scratch.path()); }) ==
        scratch.path() +
            ": is not a run's folder (it has no config.json); give one that lamina wrote, such as "
            "runs/mnist-layer");
  const RunFolder young = RunFolder::create(scratch / "young", {.experiment = "mnist"});
  CHECK(message_of<DataError>([&] { inspect(young); }) ==
        young.path() + ": has no model.safetensors yet; wait until the run has saved one");
  small_run(young.file("b"));
  small_run(young.file("a"));
  CHECK(message_of<DataError>([&] { inspect(young); }) ==
        young.path() + ": holds several runs; choose one of " + young.file("a") + ", " + young.file("b"));
}
