// --record: the numbers against direct computation, and a run with and without it.

#include "models/recording/recorder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "core/files/file.h"
#include "core/ops.h"
#include "core/ops/map.h"
#include "layers/linear.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/normalization.h"
#include "layers/recurrent/step.h"
#include "models/handwriting/model.h"
#include "models/training/training.h"
#include "optim/adam.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// The single value of a layer's quantity at a time.
double value_of(const std::vector<RecordRow>& rows, const std::string& layer, const std::string& quantity,
                std::uint64_t time = 0) {
  double value = 0;
  int count = 0;
  for (const RecordRow& row : rows)
    if (row.layer == layer && row.quantity == quantity && row.time == time) {
      value = row.value;
      ++count;
    }
  CHECK_MESSAGE(count == 1, layer, " ", quantity, " ", time);
  return value;
}

/// The record of one step of Adam, with `gradient`, if given, as that of parameter number 0.
std::vector<RecordRow> record_step(Parameters& parameters, const std::function<Tensor()>& loss,
                                   Tensor* gradient = nullptr) {
  Adam adam(parameters, {.learning_rate = real(0.01)});
  Recorder recorder(parameters);
  const Listening listening(recorder);
  recorder.begin(1);
  Tape tape;
  tape.backward(loss());
  recorder.before_update();
  if (gradient != nullptr) *gradient = parameters.learned()[0].value.gradient();
  adam.step();
  return recorder.after_update();
}

doctest::Approx near(double value) { return doctest::Approx(value).epsilon(1e-5); }

/// Those that change a layer's outputs, and neither its weights nor nothing.
std::vector<Norm> norms_of_vectors() {
  std::vector<Norm> norms;
  for (const NormEntry& entry : norm_table)
    if (entry.vectors && entry.norm != Norm::none && entry.norm != Norm::weight &&
        entry.norm != Norm::standardized)
      norms.push_back(entry.norm);
  return norms;
}

}  // namespace

TEST_CASE("record: a summary is of the numbers that there are, its deviation over their count") {
  const double missing = std::nan("");
  const Summary some = summary_of({4, missing, 1, 3, 2});
  CHECK(some.mean == 2.5);
  CHECK(some.deviation == doctest::Approx(std::sqrt(1.25)));
  CHECK(some.min == 1);
  CHECK(some.max == 4);
  CHECK(summary_of({7}).deviation == 0);
  CHECK(std::isnan(summary_of({missing}).mean));
}

TEST_CASE("a summary of summed inputs, by hand") {
  // two cases of three units: means 2 and 0, deviations over units sqrt(2/3) and 0
  const SummedInputs s = summarize(Tensor::from({2, 3}, {1, 2, 3, 0, 0, 0}));
  CHECK(s.mean == near(1));
  CHECK(s.deviation_over_units == near(std::sqrt(2.0 / 3) / 2));
  CHECK(s.deviation_over_cases == near((0.5 + 1 + 1.5) / 3));
  // maps: two cases of 1 x 2 positions x 1 channel
  const SummedInputs maps = summarize(Tensor::from({2, 1, 2, 1}, {1, 3, 5, 9}));
  CHECK(maps.mean == near(4.5));
  CHECK(maps.deviation_over_units == near((1 + 2) / 2.0));
  CHECK(maps.deviation_over_cases == near((2 + 3) / 2.0));
}

TEST_CASE("how a weight vector moves, by hand") {
  // columns: (3, 4) turns by a right angle; (1, 0) doubles; (0, 0) has no direction
  const std::vector<real> before = {3, 1, 0, 4, 0, 0}, after = {-4, 2, 1, 3, 0, 1};
  const auto changes = column_changes(2, 3, before.data(), after.data());
  CHECK(changes[0].length == near(5));
  CHECK(changes[0].angle == near(std::acos(0.0)));
  CHECK(changes[0].relative_change == near(std::sqrt(2.0)));
  CHECK(changes[1].angle == near(0));
  CHECK(changes[1].relative_change == near(1));
  CHECK(changes[2].length == 0);
  CHECK(std::isnan(changes[2].angle));
  CHECK(std::isnan(changes[2].relative_change));
}

TEST_CASE("a recorded step says what direct computation says") {
  Parameters parameters(3);
  const Linear hidden(parameters, "hidden", {.input = 5, .output = 6, .bias = false});
  const LayerNorm norm(parameters, "hidden.norm", {.features = 6});
  const Linear output(parameters, "output", {.input = 6, .output = 2});
  for (real& bias : Tensor(norm.bias).values()) bias = real(-0.5);
  Tensor(norm.bias)[2] = -100;  // this unit is dead
  const Tensor x = sample({7, 5}, 1);
  const auto h_of = [&] { return relu(norm(hidden(x))); };
  const Tensor a = hidden(x), h = h_of(), y = output(h), w = hidden.weight.copy();
  Tensor gradient;
  const auto rows = record_step(
      parameters, [&] { return sum(square(output(h_of()))); }, &gradient);

  const SummedInputs s = summarize(a);
  CHECK(value_of(rows, "hidden", "summed_inputs.mean", 1) == near(s.mean));
  CHECK(value_of(rows, "hidden", "summed_inputs.deviation_over_units", 1) == near(s.deviation_over_units));
  CHECK(value_of(rows, "hidden", "summed_inputs.deviation_over_cases", 1) == near(s.deviation_over_cases));
  CHECK(value_of(rows, "output", "summed_inputs.mean", 1) == near(mean(y).item()));
  double dead = 0;
  for (size_t i = 0; i < 6; ++i) {
    bool active = false;
    for (size_t n = 0; n < 7; ++n) active = active || h[n * 6 + i] > 0;
    dead += active ? 0 : 1.0 / 6;
  }
  CHECK(dead > 0);
  CHECK(value_of(rows, "hidden.norm", "outputs.dead", 1) == near(dead));
  CHECK(value_of(rows, "hidden.norm", "gain.mean") == near(1));
  CHECK(value_of(rows, "hidden.norm", "gain.deviation") == near(0));
  CHECK(value_of(rows, "hidden.norm", "bias.min") == near(-100));
  CHECK(value_of(rows, "hidden.norm", "bias.max") == near(-0.5));

  CHECK(value_of(rows, "hidden", "weight.gradient") == near(std::sqrt(sum(square(gradient)).item())));
  double angles = 0, longest = 0, least_change = 1e9;
  for (size_t i = 0; i < 6; ++i) {
    double before = 0, after = 0, dot = 0, moved = 0;
    for (size_t r = 0; r < 5; ++r) {
      const auto u = static_cast<double>(w[r * 6 + i]), v = static_cast<double>(hidden.weight[r * 6 + i]);
      before += u * u, after += v * v, dot += u * v, moved += (u - v) * (u - v);
    }
    angles += std::acos(dot / std::sqrt(before * after)) / 6;
    longest = std::max(longest, std::sqrt(before));
    least_change = std::min(least_change, std::sqrt(moved / before));
  }
  CHECK(value_of(rows, "hidden", "weight.angle.mean") == near(angles));
  CHECK(value_of(rows, "hidden", "weight.length.max") == near(longest));
  CHECK(value_of(rows, "hidden", "weight.change.min") == near(least_change));
}

TEST_CASE("what a norm sees and how far it turns it, by hand; parameters or not") {
  const Tensor x = Tensor::from({3, 2}, {3, 1, 0, 0, -1, 1});
  const Normalized n = compare(x, Tensor::from({3, 2}, {1, -1, 5, 5, -2, 2}));
  CHECK(n.mean == near(2.0 / 3));
  CHECK(n.deviation == near(2.0 / 3));
  CHECK(n.turned == near(std::acos(2 / std::sqrt(20.0)) / 2));  // the row of zeros has no direction

  for (const Norm norm : norms_of_vectors()) {
    if (norm == Norm::renorm) continue;  // its first call changes the second
    CAPTURE(std::string(name_of(norm)));
    Parameters parameters(3);
    const Linear hidden(parameters, "hidden", {.input = 5, .output = 6});
    Normalization scheme(parameters, "norm", {.norm = norm, .features = 6, .groups = 2});
    const Tensor a = hidden(sample({7, 5}, 1));
    const Normalized expected = compare(a, scheme(a, Mode::train));
    const auto rows = record_step(parameters, [&] {
      return sum(square(scheme(hidden(sample({7, 5}, 1)), Mode::train)));
    });
    CHECK(value_of(rows, "norm", "input.mean", 1) == near(expected.mean));
    CHECK(value_of(rows, "norm", "input.deviation", 1) == near(expected.deviation));
    CHECK(value_of(rows, "norm", "input.turned", 1) == near(expected.turned));
  }
}

TEST_CASE("what a norm passes back along 1 and along its centred input, by hand") {
  // The input's first row is 2 + (1, -1, 0); its second one has no direction, the third gradient has none.
  const Tensor x = Tensor::from({3, 3}, {3, 1, 2, 4, 4, 4, 1, 2, 3});
  const std::vector<real> gradient{2, 0, 0, 1, 2, 3, 0, 0, 0};
  const PassedBack p = passed_back(x, gradient);
  CHECK(p.along_one == near(1 / std::sqrt(3.0)));
  CHECK(p.along_input == near(1 / std::sqrt(2.0)));
  CHECK(std::isnan(passed_back(x.slice(1, 2), std::vector<real>{1, 2, 3}).along_one));
}

TEST_CASE("what a norm passes back is told from what goes past it") {
  constexpr Norm recentering[] = {Norm::layer, Norm::layer_interior, Norm::layer_simple, Norm::ada,
                                  Norm::group};
  for (const Norm norm : norms_of_vectors()) {
    CAPTURE(std::string(name_of(norm)));
    Parameters parameters(3);
    const Linear hidden(parameters, "hidden", {.input = 5, .output = 6});
    Normalization scheme(parameters, "norm",
                         {.norm = norm, .features = 6, .groups = 2, .epsilon = real(1e-8)});
    const Tensor x = sample({7, 5}, 1), seed = sample({7, 6}, 2);
    const auto rows = record_step(parameters, [&] {
      const Tensor a = hidden(x);
      return sum(seed * (square(a) + scheme(a, Mode::train)));
    });
    Parameters alike(3);
    const Linear alone(alike, "hidden", {.input = 5, .output = 6});
    Normalization again(alike, "norm", {.norm = norm, .features = 6, .groups = 2, .epsilon = real(1e-8)});
    Tensor a = alone(x).detach();
    a.require_gradient();
    Tape tape;
    tape.backward(sum(seed * again(a, Mode::train)));
    const PassedBack expected = passed_back(a, {a.gradient_data(), a.size()});
    const double along_one = value_of(rows, "norm", "passed.along_one", 1),
                 along_input = value_of(rows, "norm", "passed.along_input", 1);
    CHECK(along_one == doctest::Approx(expected.along_one).epsilon(1e-3));
    CHECK(along_input == doctest::Approx(expected.along_input).epsilon(1e-3));
    const bool recenters = std::ranges::find(recentering, norm) != std::end(recentering);
    CHECK((along_one < 1e-5) == recenters);  // rms norm has no mean
    CHECK((along_input < 1e-4) == recenters);
  }
}

TEST_CASE("every part of a ghost batch is recorded with what it passes back") {
  Parameters parameters(3);
  const Linear hidden(parameters, "hidden", {.input = 5, .output = 6});
  Normalization scheme(parameters, "norm", {.norm = Norm::ghost, .features = 6, .part = 3});
  const Tensor x = sample({10, 5}, 1), seed = sample({10, 6}, 2);  // parts of 3, 3 and 4 cases
  const auto rows = record_step(parameters, [&] { return sum(seed * scheme(hidden(x), Mode::train)); });
  Parameters alike(3);
  const Linear alone(alike, "hidden", {.input = 5, .output = 6});
  const Tensor ones = Tensor::ones({6}), zeros = Tensor::zeros({6});
  for (const size_t part : {1U, 2U, 3U}) {
    const size_t begin = (part - 1) * 10 / 3, end = part * 10 / 3;
    Tensor a = alone(x).slice(begin, end).copy();
    a.require_gradient();
    Tape tape;
    tape.backward(sum(seed.slice(begin, end) * batch_norm(a, ones, zeros)));
    const PassedBack expected = passed_back(a, {a.gradient_data(), a.size()});
    CHECK(value_of(rows, "norm", "passed.along_one", part) ==
          doctest::Approx(expected.along_one).epsilon(1e-3));
    CHECK(value_of(rows, "norm", "passed.along_input", part) ==
          doctest::Approx(expected.along_input).epsilon(1e-3));
  }
}

TEST_CASE("standardized weights are not recorded as a norm of vectors") {
  Parameters parameters(3);
  const Linear hidden(parameters, "hidden", {.input = 5, .output = 6, .weights = Norm::standardized});
  const auto rows = record_step(parameters, [&] { return sum(square(hidden(sample({7, 5}, 1)))); });
  for (const char* const quantity : {"input.mean", "input.turned", "passed.along_one"})
    CHECK(std::ranges::count(rows, quantity, &RecordRow::quantity) == 0);
  value_of(rows, "hidden", "summed_inputs.mean", 1);
}

TEST_CASE("dead units are counted for what is a relu, whatever its name") {
  Parameters parameters(3);
  const Linear hidden(parameters, "hidden", {.input = 5, .output = 6});
  const Tensor x = sample({7, 5}, 1);
  const auto times_counted = [&](const std::function<Tensor(const Tensor&)>& activation) {
    const auto rows = record_step(parameters, [&] { return sum(square(activation(hidden(x)))); });
    return std::ranges::count(rows, "outputs.dead", &RecordRow::quantity);
  };
  const auto as_op = [](const Op& op) {
    return [op](const Tensor& a) {
      const Tensor y = a.copy();
      return record(op, y, {a}, [=] { contribute(a, [dy = y.gradient_data()](size_t i) { return dy[i]; }); });
    };
  };
  CHECK(times_counted([](const Tensor& a) { return relu(a); }) == 1);
  CHECK(times_counted([](const Tensor& a) { return leaky_relu(a); }) == 0);
  CHECK(times_counted(as_op("prelude")) == 0);
  CHECK(times_counted(as_op({"hinge", OpKind::relu})) == 1);
  const auto pooled = [](bool relu_first) {
    return [=](const Tensor& a) {
      return relu_pool(a.reshape({7, 2, 3, 1}), {.relu = relu_first, .window = 2});
    };
  };
  CHECK(times_counted(pooled(true)) == 1);
  CHECK(times_counted(pooled(false)) == 0);
}

TEST_CASE("a recurrent layer's steps: the same rows at once and step by step") {
  constexpr size_t steps = 4;
  const Tensor x = sample({steps, 3, 2}, 1);
  for (const Norm norm : {Norm::none, Norm::layer}) {
    const auto rows_of = [&](bool at_once) {
      Parameters parameters(1);
      const Gru gru(parameters, "gru", {.input = 2, .hidden = 3, .norm = norm});
      return record_step(parameters, [&] {
        if (at_once) return sum(square(gru(x).last.h));
        RecurrentSession session(gru, {.steps = steps, .rows = 3});
        RecurrentState state = session.initial();
        for (size_t t = 0; t < steps; ++t) state = session(x.step(t), state);
        return sum(square(state.h));
      });
    };
    const auto whole = rows_of(true), stepped = rows_of(false);
    for (std::uint64_t t = 1; t <= steps; ++t)
      for (const char* quantity :
           {"summed_inputs.mean", "summed_inputs.deviation_over_units", "hidden.length", "hidden.gradient"}) {
        CHECK(value_of(whole, "gru", quantity, t) ==
              doctest::Approx(value_of(stepped, "gru", quantity, t)).epsilon(1e-4));
        CHECK(value_of(whole, "gru", quantity, t) != 0);
      }
  }
}

TEST_CASE("handwriting is recorded once a step, and without gradients of the states where pieces run again") {
  namespace hw = handwriting;
  for (const bool checkpoint : {false, true}) {
    Parameters parameters(1);
    const hw::Model model(parameters, {.norm = Norm::layer, .hidden = 6, .checkpoint = checkpoint});
    const hw::Batch batch{.points = sample({6, 2, 3}, 1, 0, 1),
                          .mask = Tensor::ones({5, 2}),
                          .texts = hw::TextBatch({{1, 2}, {3}})};
    const auto rows = record_step(parameters, [&] { return model.loss(batch); });
    std::set<std::tuple<std::string, std::string, std::uint64_t>> seen;
    size_t gradients = 0;
    for (const RecordRow& row : rows) {
      CHECK_MESSAGE(seen.emplace(row.layer, row.quantity, row.time).second, row.layer, " ", row.quantity, " ",
                    row.time);
      gradients += row.quantity == "hidden.gradient" ? 1 : 0;
      if (row.layer == "lower") CHECK(row.quantity != "summed_inputs.deviation_over_cases");
    }
    CHECK(value_of(rows, "lower", "hidden.length", 5) > 0);
    CHECK(gradients == (checkpoint ? 0 : 3 * 5));
  }
}

TEST_CASE("a layer without rows is not recorded") {
  Parameters parameters(1);
  const Linear linear(parameters, "linear", {.input = 3, .output = 2});
  const auto rows = record_step(parameters, [&] { return sum(linear(Tensor::zeros({0, 3}))); });
  CHECK(std::ranges::none_of(rows,
                             [](const RecordRow& row) { return row.quantity.starts_with("summed_inputs"); }));
}

TEST_CASE("the statistics of a population are no weight vectors") {
  const Tensor matrix({3, 2});
  for (const char* const name : {"lstm.hidden_norm.mean", "lstm.hidden_norm.variance", "conv.gain", "x.bias"})
    CHECK_FALSE(holds_weight_vectors(name, matrix));
  for (const char* const name : {"lstm.hidden_weight", "words", "x.direction"})
    CHECK(holds_weight_vectors(name, matrix));
}

TEST_CASE("long sequences keep their bits when they are recorded, checkpointed or not") {
  const Tensor x = sample({300, 2, 2}, 1);
  for (const bool checkpoint : {false, true}) {
    const auto gradient_of = [&](bool recorded) {
      Parameters parameters(1);
      const Lstm lstm(parameters, "lstm", {.input = 2, .hidden = 3, .checkpoint = checkpoint});
      const auto loss = [&] { return sum(square(lstm(x).hidden)); };
      if (recorded) {
        Tensor gradient;
        const auto rows = record_step(parameters, loss, &gradient);
        CHECK(value_of(rows, "lstm", "hidden.gradient", 1) > 0);
        CHECK(value_of(rows, "lstm", "hidden.length", 300) > 0);
        return gradient;
      }
      Tape tape;
      tape.backward(loss());
      return parameters.learned()[0].value.gradient();
    };
    CHECK(identical(gradient_of(true), gradient_of(false)));
  }
}

namespace {

/// Learns to output zeros; four steps per epoch.
class SmallExperiment final : public Experiment {
 public:
  Tensor loss(std::uint64_t step) override {
    return mean(square(output_(relu(norm_(hidden_(sample({8, 5}, step)))))));
  }
  Metrics evaluate(double mean_training_loss) override { return {{"train", mean_training_loss}}; }
  std::vector<std::string> metric_names() const override { return {"train"}; }

  Parameters parameters{1};

 private:
  Linear hidden_{parameters, "hidden1", {.input = 5, .output = 6}};
  LayerNorm norm_{parameters, "hidden1.norm", {.features = 6}};
  Linear output_{parameters, "output", {.input = 6, .output = 2}};
};

/// A run of `epochs` epochs in a folder, new or resumed; returns its weights.
std::vector<real> train_in(const RunFolder& folder, std::uint64_t epochs) {
  SmallExperiment experiment;
  Adam adam(experiment.parameters, {});
  train(folder, experiment.parameters, adam, experiment,
        {.label = "test", .steps_per_epoch = 4, .epochs = epochs});
  const auto values = experiment.parameters.values();
  return {values.begin(), values.end()};
}

RunFolder folder_for(const std::string& path, std::int64_t every) {
  RunConfig config{.experiment = "test"};
  config.settings.set("record", every);
  return RunFolder::create(path, config);
}

}  // namespace

TEST_CASE("recording does not change training, and is not there without the flag") {
  const TemporaryFolder scratch;
  const RunFolder plain = folder_for(scratch / "plain", 0), recorded = folder_for(scratch / "recorded", 3);
  CHECK(train_in(plain, 1) == train_in(recorded, 1));
  CHECK(!std::filesystem::exists(plain.file("record.csv")));
  const auto rows = read_record(recorded.file("record.csv"));
  std::vector<std::uint64_t> steps;
  for (const RecordRow& row : rows)
    if (steps.empty() || steps.back() != row.step) steps.push_back(row.step);
  CHECK(steps == std::vector<std::uint64_t>{1, 4});
}

TEST_CASE("a record goes on where the checkpoint is, without gaps and without repetitions") {
  const TemporaryFolder scratch;
  const RunFolder whole = folder_for(scratch / "whole", 2), killed = folder_for(scratch / "killed", 2);
  train_in(whole, 2);
  train_in(killed, 1);
  // what a killed run had written after its checkpoint of step 4: a step, and half a line of the next
  std::ofstream(killed.file("record.csv"), std::ios::app) << "5,hidden1,weight.gradient,,3\n7,hidden1,wei";
  train_in(killed, 2);
  CHECK(read_file(whole.file("record.csv")) == read_file(killed.file("record.csv")));
}

TEST_CASE("a broken record is named with its line") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "record.csv";
  write_file(path, "step,layer,quantity,time,value\n1,a,b,2,nan\n1,a,b,,0.5\n1,a,b,x,0\n");
  CHECK(message_of<DataError>([&] { read_record(path); }) ==
        path + ": line 4 is not step,layer,quantity,time,value; remove the line");
  write_file(path, "step,layer,quantity,time,value\n1,a,b,,0.5\n1,a,b,3,2\n2,a");
  const std::vector<RecordRow> expected = {{1, "a", "b", 0, 0.5}, {1, "a", "b", 3, 2}};
  CHECK(read_record(path) == expected);
  write_file(path,
             "\"step\",\"layer\",\"quantity\",\"time\",\"value\"\n1,\"a\",\"b\",,0.5\n1,\"a\",\"b\",3,2\n");
  CHECK(read_record(path) == expected);  // saved by a program that puts text into quotes
}
