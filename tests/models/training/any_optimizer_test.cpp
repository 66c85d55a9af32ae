// train() with any optimizer, with parameters that are frozen for some steps, and with moving averages: a run
// that is resumed from its state ends at the same numbers as one that was never interrupted.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/ops.h"
#include "layers/linear.h"
#include "layers/norms/layer_norm.h"
#include "models/training/training.h"
#include "optim/adam.h"
#include "optim/moving_average.h"
#include "optim/sgd.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

/// A custom optimizer: w -= learning_rate sign(g)
class SignDescent final : public Optimizer {
 public:
  SignDescent(Parameters& parameters, real rate) : Optimizer(parameters, "sign"), learning_rate(rate) {}

  void step() override {
    begin_step({.learning_rate = learning_rate, .weight_decay = 0, .groups = {}});
    real* const w = parameters().values().data();
    const real* const gradient = parameters().gradients_to_scale().data();
    update_each([=](const Part& part) {
      return [=, rate = part.learning_rate](size_t i) {
        w[i] -= rate * static_cast<real>((gradient[i] > 0) - (gradient[i] < 0));
      };
    });
  }
  std::vector<Parameters::Entry> state() const override { return {}; }

  real learning_rate;
};

struct SmallExperiment final : Experiment {
  Tensor loss(std::uint64_t step) override {
    if (step < 6)
      parameters.freeze("first");
    else
      parameters.thaw("first");
    if (step > 0) average.update();
    const auto x = static_cast<real>(step % 3 + 1);
    return mean(square(second(norm(first(Tensor::from({2, 2}, {x, 1, 2, x}))))));
  }
  Metrics evaluate(double mean_training_loss) override { return {{"train_nll", mean_training_loss}}; }
  std::vector<std::string> metric_names() const override { return {"train_nll"}; }

  Parameters parameters{1};
  Linear first{parameters, "first", {.input = 2, .output = 5}};
  LayerNorm norm{parameters, "norm", {.features = 5}};
  Linear second{parameters, "second", {.input = 5, .output = 1}};
  MovingAverage average{parameters, {.decay = real(0.9)}};
};

/// All learned values and their averages after the given epochs of 4 steps, in one or more sessions.
template <class Make>
std::vector<real> trained(const Make& make, const std::vector<std::uint64_t>& sittings) {
  const TemporaryFolder scratch;
  const RunFolder folder = RunFolder::create(scratch / "run", {.experiment = "test"});
  std::vector<real> all;
  for (const std::uint64_t epochs : sittings) {
    SmallExperiment experiment;
    const std::unique_ptr<Optimizer> optimizer = make(experiment.parameters);
    const TrainingPlan plan{.label = "test", .steps_per_epoch = 4, .epochs = epochs};
    CHECK(train(folder, experiment.parameters, *optimizer, experiment, plan) == Outcome::finished);
    CHECK(optimizer->steps == 4 * epochs);
    all.assign(experiment.parameters.values().begin(), experiment.parameters.values().end());
    for (const auto& entry : experiment.parameters.state())
      all.insert(all.end(), entry.value.values().begin(), entry.value.values().end());
  }
  return all;
}

template <class Make>
void check_resumed(const Make& make) {
  const std::vector<real> whole = trained(make, {4});
  CHECK(trained(make, {1, 2, 4}) == whole);
  CHECK(std::ranges::all_of(whole, [](real v) { return std::isfinite(v); }));
}

}  // namespace

TEST_CASE("training: any optimizer, resumed bit for bit, with frozen parameters and averages") {
  check_resumed(
      [](Parameters& p) { return std::make_unique<Adam>(p, AdamOptions{.learning_rate = real(0.1)}); });
  check_resumed([](Parameters& p) {
    return std::make_unique<AdamW>(
        p, AdamWOptions{
               .groups = {{.names = {"second"}, .learning_rate = real(0.1), .weight_decay = real(0.5)}}});
  });
  check_resumed([](Parameters& p) { return std::make_unique<Sgd>(p, SgdOptions{.momentum = real(0.9)}); });
  check_resumed([](Parameters& p) { return std::make_unique<SignDescent>(p, real(0.01)); });
}

TEST_CASE("optimizer: one of your own that forgets begin_step() is told so") {
  struct Forgetful final : Optimizer {
    explicit Forgetful(Parameters& parameters) : Optimizer(parameters, "forgetful") {}
    void step() override {
      update_each([](const Part&) { return [](size_t) {}; });
    }
    std::vector<Parameters::Entry> state() const override { return {}; }
  };
  SmallExperiment experiment;
  Forgetful optimizer(experiment.parameters);
  CHECK_THROWS_WITH_AS(optimizer.step(),
                       "forgetful: update_each() without begin_step(); call that first in step()", Error);
}
