// The convolutional network: sizes, learning, steady memory, and the study of positions.

#include <cmath>

#include "core/memory/allocator.h"
#include "models/convnet/experiment.h"
#include "models/convnet/positions.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::convnet;

namespace {

constexpr Norm norms[] = {Norm::none, Norm::batch, Norm::layer, Norm::group, Norm::layer_interior};

}  // namespace

TEST_CASE("convnet: as many parameters as the peer's model") {
  const auto count = [](Norm norm) {
    Parameters parameters(1);
    const Model model(parameters, {.norm = norm});
    return parameters.count();
  };
  CHECK(count(Norm::none) == 1663370);
  CHECK(count(Norm::layer) == 1739050);
  CHECK(count(Norm::batch) == 1663978);
}

TEST_CASE("convnet: gradients of a small one") {
  for (const Norm norm : norms) {
    CAPTURE(std::string(name_of(norm)));
    Parameters parameters(3);
    Model model(parameters, {.norm = norm, .side = 12, .channels = {8, 8}, .hidden = 64, .classes = 3});
    const Tensor images = sample({3, 144}, 1, 0, 1);
    const std::vector<int> labels = {0, 2, 1};
    std::vector<Tensor> inputs;
    for (const auto& [name, value] : parameters.learned())
      if (value.size() <= 64) inputs.push_back(value);  // the small ones: differences for all would take long
    check_gradients(
        inputs, [&] { return cross_entropy(model(images, Mode::train), labels); }, 1e-5);
  }
}

TEST_CASE("convnet: learns the built-in digits, and a step allocates nothing" * doctest::test_suite("slow")) {
  const MnistData data = synthetic_mnist(1, 640, 100, 100);
  for (const Norm norm : norms) {
    CAPTURE(std::string(name_of(norm)));
    ConvnetExperiment experiment(data, {.norm = norm, .batch = 64});
    const auto step = [&](std::uint64_t number) {
      Tape tape;
      const Tensor loss = experiment.loss(number);
      tape.backward(loss);
      experiment.optimizer().step();
      return static_cast<double>(loss.item());
    };
    const double first = step(0);
    step(1);
    const size_t allocations = memory::statistics().system_allocations;
    double last = 0;
    for (std::uint64_t number = 2; number < 20; ++number) last = step(number);
    CHECK(memory::statistics().system_allocations == allocations);
    CHECK(last < first / 2);
  }
}

TEST_CASE("convnet: statistics of the positions") {
  const MnistData data = synthetic_mnist(1, 64, 10, 30);
  ConvnetExperiment experiment(data, {.norm = Norm::layer, .batch = 8});
  const auto layers = position_statistics(experiment.model, data.test);
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].height == 28);
  CHECK(layers[1].width == 14);
  // By hand for one position of the first layer.
  const auto views =
      experiment.model.inspect(Tensor::from({30, 784}, std::span<const real>(data.test.pixels)));
  double total = 0, squares = 0, active = 0;
  for (size_t n = 0; n < 30; ++n)
    for (size_t c = 0; c < 32; ++c) {
      const size_t i = ((n * 28 + 13) * 28 + 9) * 32 + c;
      const auto a = static_cast<double>(views[0].summed_inputs[i]);
      total += a;
      squares += a * a;
      active += views[0].outputs[i] > 0;
    }
  CHECK(std::fabs(layers[0].input_mean[13 * 28 + 9] - total / 960) < 1e-6);
  CHECK(std::fabs(layers[0].input_deviation[13 * 28 + 9] -
                  std::sqrt(squares / 960 - std::pow(total / 960, 2))) < 1e-6);
  CHECK(std::fabs(layers[0].active[13 * 28 + 9] - active / 960) < 1e-12);
  CHECK(layers[0].at_border(1, 13));
  CHECK_FALSE(layers[0].at_border(2, 25));
  CHECK(layers[0].at_border(13, 26));
  const std::string csv = to_csv(layers);
  CHECK(std::ranges::count(csv, '\n') == 1 + 28 * 28 + 14 * 14);
  CHECK(contains(border_table(layers), "| 2 | centre (100) |"));
}

TEST_CASE("convnet: the table of border and centre joins the positions' means and deviations") {
  PositionStatistics layer;
  layer.height = layer.width = 5;
  for (size_t i = 0; i < 25; ++i) {
    const bool centre = i == 12, odd = i % 2 == 1;  // at the border 12 positions are 1, and 12 are 3
    layer.input_mean.push_back(centre ? 5 : odd ? 1 : 3);
    layer.input_deviation.push_back(2);
    layer.output_mean.push_back(centre ? 0.25 : 1);
    layer.output_deviation.push_back(centre ? 0.5 : 0);
    layer.active.push_back(centre ? 1 : 0.5);
  }
  CHECK(
      border_table({layer}).ends_with("| 1 | border (24) | 2.000 | 2.236 | 1.000 | 0.000 | 50.0% |\n"
                                      "| 1 | centre (1) | 5.000 | 2.000 | 0.250 | 0.500 | 100.0% |\n"));
}
