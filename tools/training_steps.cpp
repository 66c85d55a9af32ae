#include "tools/training_steps.h"

#include "core/listener.h"
#include "core/ops.h"
#include "layers/recurrent/recurrent.h"
#include "models/convnet/experiment.h"
#include "models/mnist/experiment.h"

namespace lamina {

namespace {

/// The mean square of all states of a layer as `make bench` measures it: 100 steps, 128 inputs, 256 units.
template <class Layer>
TrainingStep recurrent_step(const TrainingStepOptions& options) {
  constexpr size_t steps = 100, input = 128, hidden = 256;
  const auto parameters = std::make_shared<Parameters>(1);
  const auto layer = std::make_shared<Layer>(
      *parameters, "layer", RecurrentOptions{.input = input, .hidden = hidden, .norm = options.norm});
  Tensor x({steps, options.batch, input});
  Random(2).fill_normal(x.data(), x.size(), 0, 1);
  return {.parameters = parameters, .loss = [=] {
            const Tensor states = (*layer)(x).hidden;
            const Scope scope("loss");
            return mean(square(states));
          }};
}

}  // namespace

const std::vector<NamedTrainingStep>& training_steps() {
  static const std::vector<Norm> dense = {Norm::layer, Norm::none, Norm::batch, Norm::weight};
  static const std::vector<Norm> maps = {Norm::layer, Norm::none, Norm::batch, Norm::group,
                                         Norm::layer_interior};
  static const std::vector<NamedTrainingStep> steps = {
      {"mnist", dense, 128, digit_step<mnist::MnistExperiment>},
      {"convnet", maps, 128, digit_step<convnet::ConvnetExperiment>},
      {"rnn", dense, 32, recurrent_step<Rnn>},
      {"lstm", dense, 32, recurrent_step<Lstm>},
      {"gru", dense, 32, recurrent_step<Gru>},
  };
  return steps;
}

}  // namespace lamina
