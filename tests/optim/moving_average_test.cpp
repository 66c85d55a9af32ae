// Moving averages of weights.

#include "optim/moving_average.h"

#include <array>
#include <memory>
#include <string>

#include "core/distributed/group.h"
#include "core/distributed/machine/shared_model.h"
#include "core/files/parameter_file.h"
#include "layers/linear.h"
#include "layers/norms/batch_norm.h"
#include "optim/sgd.h"
#include "tests/check.h"
#include "tests/core/distributed/rank_threads.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

struct Model {
  Parameters parameters{1};
  Linear layer{parameters, "layer", {.input = 3, .output = 2}};
  BatchNorm norm{parameters, "norm", {.features = 2}};
  Sgd sgd{parameters, {.learning_rate = real(0.1)}};
  MovingAverage average{parameters, {.decay = real(0.75)}};
  Tensor x = sample({4, 3}, 1);

  void step() {
    Tape tape;
    tape.backward(sum(square(norm(layer(x), Mode::train) + layer(x))));
    sgd.step();
  }
};

}  // namespace

TEST_CASE("moving average: the formula, and back") {
  Model model;
  std::vector<double> expected(model.layer.weight.values().begin(), model.layer.weight.values().end());
  for (int step = 0; step < 5; ++step) {
    model.step();
    model.average.update();
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = 0.75 * expected[i] + 0.25 * static_cast<double>(model.layer.weight[i]);
  }
  const Tensor weights = model.layer.weight.copy(), running = model.norm.running_mean.copy();
  {
    const auto applied = model.average.apply();
    CHECK(model.average.swapped());
    const std::vector<real> rounded(expected.begin(), expected.end());
    CHECK(difference(model.layer.weight.values(), rounded) < 10 * ulp);
    CHECK(identical(model.norm.running_mean, running));
  }
  CHECK(!model.average.swapped());
  CHECK(identical(model.layer.weight, weights));
}

TEST_CASE("moving average: weights that stay are their own average") {
  Model model;
  const Tensor before = model.layer.weight.copy();
  for (int i = 0; i < 100; ++i) model.average.update();
  model.average.swap();
  CHECK(identical(model.layer.weight, before));
}

TEST_CASE("moving average: nothing trains, updates or loads while the averages are in") {
  Model model;
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  save(model.parameters, path);
  model.step();
  const std::string reason =
      "the weights are swapped for their moving averages, which are not to be trained; swap them back first";
  {
    const auto applied = model.average.apply();
    CHECK_ERROR(model.step(), "sgd: " + reason);
    CHECK_ERROR(model.average.update(), "moving average: " + reason);
    CHECK_ERROR(load(model.parameters, path), "load: " + reason);
    CHECK_ERROR(model.average.apply(), "moving average: the averages are swapped in already");
  }
  model.parameters.clear_gradients();
  model.step();
}

TEST_CASE("moving average: saved and loaded with the parameters") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  Model model, other;
  for (int i = 0; i < 3; ++i) {
    model.step();
    model.average.update();
  }
  save(model.parameters, path);
  CHECK(load_checkpoint(path).find("average.layer.weight")->shape() == Shape{3, 2});
  load(other.parameters, path);
  CHECK(identical(other.layer.weight, model.layer.weight));
  for (Model* const each : {&model, &other}) {  // both continue alike
    each->step();
    each->average.update();
    each->average.swap();
  }
  CHECK(identical(other.layer.weight, model.layer.weight));
  CHECK(identical(other.norm.gain, model.norm.gain));
}

TEST_CASE("moving average: a model that grows while the averages are in gets its weights back") {
  Model model;
  model.step();
  const Tensor weights = model.layer.weight.copy();
  Tensor late;
  {
    const auto applied = model.average.apply();
    CHECK(!identical(model.layer.weight, weights));
    late = model.parameters.add("late", Tensor::ones({3}));
  }
  CHECK(identical(model.layer.weight, weights));
  CHECK(identical(late, Tensor::ones({3})));
  CHECK(contains(error_of([&] { model.average.swap(); }), "the model grew"));
}

/// Two swaps of one copy would leave the averages in the weights' place.
TEST_CASE("moving average: ranks that hold one copy of the weights do not each swap it") {
  std::array<std::string, 2> errors;
  std::array<bool, 2> unchanged{}, swapped_apart{};
  on_ranks(2, [&] {
    const size_t rank = distributed::group().rank();
    Model model;
    model.step();
    const Tensor weights = model.layer.weight.copy();
    {
      const distributed::SharedModel shared(model.parameters);
      errors[rank] = error_of([&] { model.average.swap(); });
      distributed::gather(0);
      unchanged[rank] = identical(model.layer.weight, weights);
      distributed::gather(0);
    }
    model.average.swap();
    swapped_apart[rank] = !identical(model.layer.weight, weights);
  });
  for (const size_t rank : {0U, 1U}) {
    CHECK(errors[rank] ==
          "moving average: the ranks of this machine hold one copy of the weights, which each of them would "
          "swap; start them with LAMINA_SHARED_MEMORY=0, so that each has its own");
    CHECK(unchanged[rank]);
    CHECK(swapped_apart[rank]);
  }
}

TEST_CASE("moving average: errors") {
  Model model;
  CHECK_ERROR(MovingAverage(model.parameters, {.decay = 1}),
              "moving average: decay 1; it must be at least 0 and below 1");
  CHECK(contains(error_of([&] { MovingAverage(model.parameters, {}); }),
                 "'average.layer.weight' is used twice"));
  model.parameters.add("late", sample({3}, 1));
  CHECK_ERROR(model.average.update(),
              "moving average: the model grew after it was made; make it when all layers exist");
  auto parameters = std::make_unique<Parameters>(1);
  parameters->add("w", sample({3}, 1));
  MovingAverage average(*parameters, {});
  {
    const auto applied = average.apply();
    parameters.reset();
  }
  CHECK_ERROR(average.update(),
              "moving average: the parameters are gone; keep them as long as it, and declare them before it");
}
