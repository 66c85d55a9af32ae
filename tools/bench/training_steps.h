#pragma once
// The training steps that `lamina graph` draws and `make bench` times, on random data. A new experiment adds
// one line to the table in training_steps.cpp.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/training/training_step.h"

namespace lamina {

/// A classifier of digits, Model(parameters, Options{.norm = norm}), with its loss, on random images.
template <class Model, class Options>
TrainingStep classifier_step(const TrainingStepOptions& options);

struct SequenceSizes {
  Norm norm = Norm::none;
  size_t steps = 100, batch = 32, input = 128, hidden = 256;
};

/// The mean square of all states of a layer: Rnn, Lstm or Gru.
template <class Layer>
TrainingStep recurrent_step(const SequenceSizes& sizes);

struct LanguageModelSizes {
  Norm norm = Norm::none;
  size_t layers = 6, width = 256, heads = 8, length = 256, batch = 16;
};

/// The loss of a causal Transformer with pre-LN on random characters, 80 different ones.
TrainingStep language_model_step(const LanguageModelSizes& sizes);
/// The same model writes.
struct WritingStep {
  std::shared_ptr<Parameters> parameters;
  std::function<int()>
      next;  ///< reads one more character of a text and draws the next one, whose number it returns
};
WritingStep writing_step(const LanguageModelSizes& sizes);

struct NamedTrainingStep {
  std::string name;
  std::vector<Norm> norms;  ///< that it can be built with; the first is the default
  size_t batch;             ///< the default
  TrainingStep (*make)(const TrainingStepOptions& options);
  bool clips = false;  ///< the experiment's training reads all gradients, to clip them
};

const std::vector<NamedTrainingStep>& training_steps();

/// None where there is no experiment of this name.
const NamedTrainingStep* find_training_step(std::string_view name);

}  // namespace lamina
