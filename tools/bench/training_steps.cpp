#include "tools/bench/training_steps.h"

#include <algorithm>

#include "core/listener.h"
#include "core/ops.h"
#include "layers/recurrent/recurrent.h"
#include "models/attentive_reader/model.h"
#include "models/convnet/experiment.h"
#include "models/draw/model.h"
#include "models/handwriting/model.h"
#include "models/mnist/experiment.h"
#include "models/order_embedding/model.h"
#include "models/skip_thoughts/model.h"
#include "tools/bench/timed_steps.h"

namespace lamina {

namespace {

/// A layer as `make bench` times it.
template <class Layer>
TrainingStep usual_recurrent_step(const TrainingStepOptions& options) {
  return recurrent_step<Layer>({.norm = options.norm, .batch = options.batch});
}

/// DRAW at the paper's size, on images of which a fifth is ink.
TrainingStep draw_step(const TrainingStepOptions& options) {
  const auto parameters = std::make_shared<Parameters>(1);
  const draw::GlimpseSizes sizes;
  const auto model = std::make_shared<draw::Model>(*parameters, draw::ModelOptions{.norm = options.norm});
  Tensor images({options.batch, sizes.pixels()});
  Random random(3);
  for (real& pixel : images.values()) pixel = random.uniform() < real(0.2) ? real(1) : real(0);
  const Tensor noise = normal({sizes.glimpses, options.batch, sizes.latent});
  return {.parameters = parameters, .loss = [=] {
            const draw::Bound bound = (*model)(images, noise);
            const Scope scope("loss");
            return mean(bound.reconstruction + bound.kl);
          }};
}

/// Order embeddings at the paper's size, on captions of 15 words.
TrainingStep order_embedding_step(const TrainingStepOptions& options) {
  const auto parameters = std::make_shared<Parameters>(1);
  const order_embedding::ModelOptions sizes{.norm = options.norm, .vocabulary = 10000};
  const auto model = std::make_shared<order_embedding::Model>(*parameters, sizes);
  const Tensor features = relu(normal({options.batch, sizes.features}));
  const auto captions =
      std::make_shared<const TokenBatch>(random_sentences(15, options.batch, sizes.vocabulary));
  return {.parameters = parameters, .loss = [=] { return model->loss(features, *captions); }};
}

/// Handwriting synthesis at the paper's size: lines of 500 points and 30 characters.
TrainingStep handwriting_step(const TrainingStepOptions& options) {
  constexpr size_t steps = 500, characters = 30;
  const auto parameters = std::make_shared<Parameters>(1);
  const auto model =
      std::make_shared<handwriting::Model>(*parameters, handwriting::ModelOptions{.norm = options.norm});
  Random random(3);
  std::vector<std::vector<int>> texts(options.batch, std::vector<int>(characters));
  for (std::vector<int>& text : texts)
    for (int& symbol : text) symbol = static_cast<int>(random.below(handwriting::symbol_count));
  const auto batch = std::make_shared<handwriting::Batch>();
  *batch = {.points = normal({steps + 1, options.batch, 3}),
            .mask = Tensor::ones({steps, options.batch}),
            .texts = handwriting::TextBatch(texts)};
  for (size_t i = 2; i < batch->points.size(); i += 3)
    batch->points[i] = random.uniform() < real(0.05) ? real(1) : real(0);
  return {.parameters = parameters,
          .loss = [=] { return model->loss(*batch) / static_cast<real>(options.batch); }};
}

/// The attentive reader at the paper's width, without what PyTorch's case does not have (the bilinear term,
/// the mean state, learned first states, dropout): passages of 200 words, questions of 30, 20,000 words, 500
/// answers.
TrainingStep attentive_reader_step(const TrainingStepOptions& options) {
  using namespace attentive_reader;
  const ModelOptions sizes{.norm = options.norm,
                           .vocabulary = 20000,
                           .answers = 500,
                           .bilinear = false,
                           .mean_state = false,
                           .learn_initial = false,
                           .dropout = 0};
  const auto parameters = std::make_shared<Parameters>(1);
  const auto model = std::make_shared<Model>(*parameters, sizes);
  const auto batch = std::make_shared<const QuestionBatch>(
      QuestionBatch{.passages = random_sentences(200, options.batch, sizes.vocabulary),
                    .questions = random_sentences(30, options.batch, sizes.vocabulary)});
  Random random(4);
  std::vector<int> answers(options.batch);
  for (int& answer : answers) answer = static_cast<int>(random.below(500));
  return {.parameters = parameters, .loss = [=] {
            const Answers given = (*model)(*batch, Mode::train);
            const Scope scope("loss");
            return cross_entropy(given.logits, answers);
          }};
}

/// Skip-thoughts at the paper's size, on sentences of 20 words, each decoder conditioned at every step.
TrainingStep skip_thoughts_step(const TrainingStepOptions& options) {
  constexpr size_t words = 20;
  const auto parameters = std::make_shared<Parameters>(1);
  const skip_thoughts::ModelOptions sizes{.norm = options.norm,
                                          .condition = skip_thoughts::Condition::every_step};
  const auto model = std::make_shared<skip_thoughts::Model>(*parameters, sizes);
  const auto sentences = [&](std::uint64_t seed) {
    return random_sentences(words, options.batch, sizes.sizes.vocabulary, seed);
  };
  const auto data = std::make_shared<skip_thoughts::Neighbours>();
  *data = {.previous = sentences(3), .current = sentences(4), .next = sentences(5)};
  return {.parameters = parameters, .loss = [=] { return model->loss(*data); }};
}

TrainingStep transformer_step(const TrainingStepOptions& options) {
  return language_model_step({.norm = options.norm, .batch = options.batch});
}

/// The schemes that a block of a Transformer can have, layer norm first; without maps, layer_interior is layer norm.
std::vector<Norm> norms_of_blocks() {
  std::vector<Norm> norms{Norm::layer};
  for (const NormEntry& entry : norm_table)
    if (entry.vectors && entry.norm != Norm::layer && entry.norm != Norm::layer_interior)
      norms.push_back(entry.norm);
  return norms;
}

}  // namespace

const std::vector<NamedTrainingStep>& training_steps() {
  static const std::vector<Norm> dense = {Norm::layer, Norm::none, Norm::batch, Norm::weight};
  static const std::vector<Norm> digits = {Norm::layer, Norm::none,   Norm::batch,       Norm::weight,
                                           Norm::ghost, Norm::renorm, Norm::standardized};
  static const std::vector<Norm> maps = {Norm::layer,          Norm::none,  Norm::batch,  Norm::group,
                                         Norm::layer_interior, Norm::ghost, Norm::renorm, Norm::standardized};
  constexpr bool clips = true;
  static const std::vector<NamedTrainingStep> steps = {
      {"mnist", digits, 128, digit_step<mnist::MnistExperiment>},
      {"convnet", maps, 128, digit_step<convnet::ConvnetExperiment>},
      {"draw", {Norm::layer, Norm::none, Norm::weight}, 128, draw_step, clips},
      {"handwriting", {Norm::layer, Norm::none}, 8, handwriting_step},
      {"order-embedding", {Norm::layer, Norm::none}, 128, order_embedding_step, clips},
      {"attentive-reader", {Norm::layer, Norm::none, Norm::batch}, 64, attentive_reader_step, clips},
      {"skip-thoughts", {Norm::layer, Norm::none}, 64, skip_thoughts_step, clips},
      {"transformer", norms_of_blocks(), 16, transformer_step, clips},
      {"rnn", dense, 32, usual_recurrent_step<Rnn>},
      {"lstm", dense, 32, usual_recurrent_step<Lstm>},
      {"gru", dense, 32, usual_recurrent_step<Gru>},
  };
  return steps;
}

const NamedTrainingStep* find_training_step(std::string_view name) {
  const auto& steps = training_steps();
  const auto place = std::ranges::find(steps, name, &NamedTrainingStep::name);
  return place == steps.end() ? nullptr : &*place;
}

}  // namespace lamina
