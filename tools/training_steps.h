#pragma once
// The training steps that `lamina graph` draws and `make bench` times, on random data. A new experiment adds
// one line to the table in training_steps.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "models/common/training_step.h"

namespace lamina {

struct SequenceSizes {
  Norm norm = Norm::none;
  size_t steps = 100, batch = 32, input = 128, hidden = 256;
};

/// The mean square of all states of a layer: Rnn, Lstm or Gru.
template <class Layer>
TrainingStep recurrent_step(const SequenceSizes& sizes);

/// DRAW at the paper's size, on images of which a fifth is ink.
TrainingStep draw_step(const TrainingStepOptions& options);

/// Order embeddings at the paper's size, on captions of 15 words.
TrainingStep order_embedding_step(const TrainingStepOptions& options);

/// Handwriting synthesis at the paper's size: lines of 500 points and 30 characters.
TrainingStep handwriting_step(const TrainingStepOptions& options);

/// The attentive reader at the paper's width, without what PyTorch's case does not have (the bilinear term,
/// the mean state, learned first states, dropout): passages of 200 words, questions of 30, 20,000 words, 500
/// answers.
TrainingStep attentive_reader_step(const TrainingStepOptions& options);

/// Skip-thoughts at the paper's size, on sentences of 20 words, each decoder conditioned at every step.
TrainingStep skip_thoughts_step(const TrainingStepOptions& options);

struct NamedTrainingStep {
  std::string name;
  std::vector<Norm> norms;  ///< that it can be built with; the first is the default
  size_t batch;             ///< the default
  TrainingStep (*make)(const TrainingStepOptions& options);
};

const std::vector<NamedTrainingStep>& training_steps();

/// None where there is no experiment of this name.
const NamedTrainingStep* find_training_step(std::string_view name);

}  // namespace lamina
