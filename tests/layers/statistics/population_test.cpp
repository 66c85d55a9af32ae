// Batch norm inside recurrence: what enters the population's statistics in each mode, and which steps use
// which statistics.

#include "layers/norms/batch_norm.h"
#include "layers/norms/masked_batch_norm.h"
#include "layers/recurrent/fused/step_norm.h"
#include "tests/layers/recurrent/recurrent_cases.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

std::vector<real> reals(const std::vector<double>& values) {
  std::vector<real> all;
  for (const double value : values) all.push_back(static_cast<real>(value));
  return all;
}

/// One unit over at most `max_steps` steps, measured one batch at a time.
struct Unit {
  explicit Unit(size_t max_steps)
      : norm(make_step_norm(parameters, "norm",
                            {.norm = Norm::batch, .segments = {1, 0}, .max_steps = max_steps})) {}

  /// values[t] are those of step t's live cases; the last of `rows` are padded.
  void see(const std::vector<std::vector<real>>& values, Mode mode) {
    constexpr size_t rows = 4;
    StepNorm pass(norm, values.size(), rows, mode);
    for (size_t t = 0; t < values.size(); ++t) {
      std::vector<real> raw = values[t], mask(values[t].size(), 1);
      raw.resize(rows, 1000);
      mask.resize(rows, 0);
      pass.measure_columns(t, 0, 1, raw.data(), mask.data());
    }
  }

  /// Means, variances and numbers of cases as they should be.
  void check(const std::vector<double>& means, const std::vector<double>& variances,
             const std::vector<double>& cases) const {
    CHECK(difference(norm.population.mean.values(), reals(means)) < 16 * ulp);
    CHECK(difference(norm.population.variance.values(), reals(variances)) < 16 * ulp);
    CHECK(difference(norm.population.cases.values(), reals(cases)) == 0);
  }

  Parameters parameters{1};
  StepNormParameters norm;
};

Tensor evaluated(const StepNormParameters& parameters, size_t steps, real value) {
  const StepNorm pass(parameters, steps, 1, Mode::evaluate);
  Tensor y({steps});
  for (size_t t = 0; t < steps; ++t) pass.normalize_row(t, 0, &value, y.data() + t);
  return y;
}

}  // namespace

TEST_CASE("population: the first batch gives its statistics, later ones move them by a tenth") {
  Unit unit(2);
  unit.check({0, 0}, {1, 1}, {0, 0});
  unit.see({{1, 3}, {2, 4, 9}}, Mode::train);  // means 2 and 5, variances 1 and (9 + 1 + 16) / 3
  unit.check({2, 5}, {1, 26.0 / 3}, {2, 3});
  unit.see({{10, 14}, {0, 0}}, Mode::train);  // means 12 and 0, variances 4 and 0
  unit.check({0.9 * 2 + 0.1 * 12, 0.9 * 5}, {0.9 * 1 + 0.1 * 4, 0.9 * 26 / 3}, {4, 5});
}

TEST_CASE("population: measured over batches, each counts by its number of cases") {
  Unit unit(2);
  unit.see({{100, 300}, {7, 9}}, Mode::train);  // to be forgotten
  unit.norm.population.forget();
  unit.see({{1, 3}, {2, 4, 9}}, Mode::measure_population);     // means 2, 5; variances 1, 26/3
  unit.see({{1, 2, 3, 6}, {1, 5}}, Mode::measure_population);  // means 3, 3; variances 3.5, 4
  unit.see({{0, 2, 4, 6}, {8}}, Mode::measure_population);     // mean 3; variance 5; a single case
  unit.check({(2 * 2 + 4 * 3 + 4 * 3) / 10.0, (3 * 5 + 2 * 3) / 5.0},
             {(2 * 1 + 4 * 3.5 + 4 * 5) / 10.0, (26 + 2 * 4) / 5.0}, {10, 5});
}

TEST_CASE("population: a step with one live case, or none, leaves it alone") {
  for (const Mode mode : {Mode::train, Mode::measure_population}) {
    Unit unit(3);
    unit.see({{1, 3}, {5, 7}, {4}}, mode);
    unit.check({2, 6, 0}, {1, 1, 1}, {2, 2, 0});
    unit.see({{2, 2}, {100}, {}}, mode);  // the variance of a single case would be 0
    CHECK(unit.norm.population.mean[1] == 6);
    CHECK(unit.norm.population.variance[1] == 1);
    CHECK(unit.norm.population.cases[0] == 4);
    CHECK(unit.norm.population.cases[1] == 2);
  }
}

TEST_CASE("population: steps beyond T_max or never reached use those of the last step reached") {
  Unit unit(4);  // T_max
  const auto expected = [&](const std::vector<size_t>& from) {
    std::vector<double> values;
    for (const size_t t : from)
      values.push_back((8 - static_cast<double>(unit.norm.population.mean[t])) /
                       std::sqrt(static_cast<double>(unit.norm.population.variance[t]) + 1e-5));
    return reals(values);
  };
  CHECK(difference(evaluated(unit.norm, 6, 8).values(), expected({0, 0, 0, 0, 0, 0})) <
        64 * ulp);                               // nothing was seen
  unit.see({{1, 3}, {5, 9}, {4}}, Mode::train);  // step 2 has a single live case
  CHECK(unit.norm.population.mean[1] == 7);
  CHECK(difference(evaluated(unit.norm, 6, 8).values(), expected({0, 1, 1, 1, 1, 1})) < 64 * ulp);
  unit.see({{1, 3}, {5, 9}, {4, 6}, {7, 8}, {0, 50}}, Mode::train);
  CHECK(difference(evaluated(unit.norm, 6, 8).values(), expected({0, 1, 2, 3, 3, 3})) < 64 * ulp);
}

TEST_CASE("population: evaluation by the batch gives what training does and changes nothing") {
  const Tensor mask = Tensor::from({3, 2}, {1, 1, 1, 1, 1, 0});
  const Tensor x = sample({3, 2, 4}, 1);
  Parameters parameters(1), others(1);
  const Lstm lstm(parameters, "lstm", {.input = 4, .hidden = 5, .norm = Norm::batch});
  const MaskedBatchNorm norm(others, "norm", {.features = 4});
  const Tensor seen = lstm(x, {.mask = mask, .mode = Mode::evaluate_by_batch}).hidden;
  const Tensor outside = norm(x, mask, Mode::evaluate_by_batch);
  for (const StepNormParameters& each : {lstm.input_norm, lstm.hidden_norm, lstm.memory_norm}) {
    CHECK(difference(each.population.cases, Tensor::zeros({100})) == 0);
    CHECK(difference(each.population.mean, Tensor::zeros(each.population.mean.shape())) == 0);
  }
  CHECK(norm.population.cases[0] == 0);
  CHECK(identical(seen, lstm(x, {.mask = mask, .mode = Mode::train}).hidden));
  CHECK(identical(outside, norm(x, mask, Mode::train)));
  CHECK(lstm.memory_norm.population.cases[1] == 2);
  CHECK(lstm.memory_norm.population.cases[2] == 0);
  CHECK(norm.population.cases[0] == 5);
}

TEST_CASE("population: a batch measured as a whole is what evaluation then normalizes with") {
  const Tensor x = sample({5, 8, 4}, 1);
  Parameters parameters(1), others(1);
  const Gru gru(parameters, "gru", {.input = 4, .hidden = 6, .norm = Norm::batch});
  const MaskedBatchNorm norm(others, "norm", {.features = 4, .bias = false});
  CHECK(!norm.bias.defined());
  gru(sample({5, 8, 4}, 2, 5, 9), {});
  norm(sample({5, 8, 4}, 2, 5, 9), {}, Mode::train);
  gru.forget_population();
  norm.population.forget();
  for (const bool first : {true, false}) {  // twice the same batch: the same averages
    const Tensor by_batch = gru(x, {.mode = Mode::measure_population}).hidden;
    CHECK(difference(by_batch, gru(x, {.mode = Mode::evaluate}).hidden) < 1e3 * ulp);
    const Tensor outside = norm(x, {}, Mode::measure_population);
    CHECK(difference(outside, norm(x, {}, Mode::evaluate)) < 1e3 * ulp);
    CHECK(norm.population.cases[0] == (first ? 40 : 80));
  }
}

TEST_CASE("population: one and two threads enter the same numbers") {
  std::vector<std::vector<Tensor>> results;
  for (const int team : {1, 2}) {
    set_threads(team);
    Parameters parameters(1);
    const Lstm lstm(parameters, "lstm", {.input = 40, .hidden = 120, .norm = Norm::batch, .max_steps = 4});
    for (const Mode mode : {Mode::train, Mode::train, Mode::measure_population})
      lstm(sample({6, 64, 40}, 1), {.mode = mode});
    results.emplace_back();
    for (const auto& entry : parameters.state()) results.back().push_back(entry.value.copy());
  }
  set_threads(0);
  CHECK(results[0].size() == 9);
  for (size_t i = 0; i < results[0].size(); ++i) {
    CAPTURE(i);
    CHECK(difference(results[0][i], results[1][i]) < 1e3 * ulp);
  }
}

TEST_CASE("batch norm outside of recurrence: evaluation by the batch moves nothing") {
  Parameters parameters(1);
  BatchNorm norm(parameters, "norm", {.features = 3});
  const Tensor a = sample({5, 3}, 1, 2, 4);
  const Tensor y = norm(a, Mode::evaluate_by_batch);
  CHECK(difference(norm.running_mean, Tensor::zeros({3})) == 0);
  CHECK(identical(y, norm(a, Mode::train)));
  CHECK(norm.running_mean[0] > 0);
  CHECK_ERROR(norm(a, Mode::measure_population),
              "batch_norm 'norm': keeps moving averages only; measure_population is for recurrent layers and "
              "MaskedBatchNorm");
}

TEST_CASE("padded cases that count: the composed twin, gradients, and statistics over all cases") {
  for (const Kind kind : kinds_but_relu)
    for (const bool reverse : {false, true}) {
      const Case c{
          .kind = kind,
          .options = {.input = 3, .hidden = 5, .norm = Norm::batch, .gain = real(0.7), .reverse = reverse},
          .masked = true};
      CAPTURE(describe(c));
      AnyLayer layer(c);
      const Inputs in = inputs_of(c);
      const auto counting = [](const Run& run) {
        return [=](const Tensor& x, SequenceOptions with) {
          with.count_padded = true;
          return run(x, with);
        };
      };
      check_same(layer, in, counting(layer.fused), counting(layer.composed_twin));
      check_gradients(
          leaves(layer, in), [&] { return loss_of(in, counting(layer.fused)); }, 1e-4);
      const auto counted = loss_and_gradients(layer, in, counting(layer.fused));
      const auto left_out = loss_and_gradients(layer, in, layer.fused);
      CHECK(difference(counted[0], left_out[0]) > 1e-4);  // the mask's padded cases make a difference
    }
}

TEST_CASE("learned first states: h alone, or h and c") {
  for (const bool memory : {false, true}) {
    Parameters parameters(1);
    const Lstm lstm(parameters, "lstm",
                    {.input = 2, .hidden = 3, .learn_initial = true, .learn_initial_memory = memory});
    CHECK(lstm.initial_h.defined());
    CHECK(lstm.initial_c.defined() == memory);
    CHECK(difference(lstm.initial_h, Tensor::zeros({3})) == 0);
  }
}

TEST_CASE("population: what sessions measure at the same time counts as if one had followed the other") {
  Parameters parameters(1);
  const Lstm lstm(parameters, "lstm", {.input = 2, .hidden = 2, .norm = Norm::batch});
  const Tensor a = sample({3, 2}, 1), b = sample({4, 2}, 2);
  const auto open = [&](size_t cases) {
    return RecurrentSession(lstm, {.steps = 1, .rows = cases, .mode = Mode::measure_population});
  };
  const auto measured = [&](bool together) {
    lstm.forget_population();
    RecurrentSession first = open(3);
    if (!together) first(a, first.initial());
    RecurrentSession second = open(4);
    if (together) first(a, first.initial());
    second(b, second.initial());
    return lstm.populations();
  };
  const auto copies = [](const std::vector<Population>& all) {
    std::vector<Tensor> values;
    for (const Population& each : all)
      for (const Tensor& value : {each.mean, each.variance, each.cases}) values.push_back(value.copy());
    return values;
  };
  const std::vector<Tensor> one = copies(measured(false)), two = copies(measured(true));
  CHECK(one[2][0] == 7);
  for (size_t i = 0; i < one.size(); ++i) CHECK(identical(one[i], two[i]));
}
