#pragma once
// Steps of models of any size on random data, for the benchmarks that time them and for the commands of the experiments. All of
// it is here, so that a program has in memory only the models that it times.

#include <functional>
#include <memory>
#include <vector>

#include "core/listener.h"
#include "core/ops.h"
#include "core/tape.h"
#include "layers/recurrent/recurrent.h"
#include "models/text/batches.h"
#include "models/training/training_step.h"
#include "models/transformer/writing.h"
#include "optim/adam.h"
#include "tools/peers/small_case.h"

namespace lamina {

/// The step with Adam's update at the rate of the peers, which returns the loss.
inline std::function<double()> with_update(const TrainingStep& step) {
  const auto adam = std::make_shared<Adam>(*step.parameters,
                                           AdamOptions{.learning_rate = real(bench::small_learning_rate)});
  return [=] {
    Tape tape;
    const Tensor loss = step.loss();
    tape.backward(loss);
    adam->step();
    return static_cast<double>(loss.item());
  };
}

inline Tensor normal(Shape shape) {
  Tensor values(shape);
  Random(2).fill_normal(values.data(), values.size(), 0, 1);
  return values;
}

/// Sentences of equal length, of random words.
inline TokenBatch random_sentences(size_t steps, size_t rows, size_t vocabulary, std::uint64_t seed = 3) {
  TokenBatch batch;
  batch.steps = steps;
  batch.rows = rows;
  Random random(seed);
  for (size_t i = 0; i < steps * rows; ++i)
    batch.tokens.push_back(static_cast<int>(random.below(static_cast<std::uint32_t>(vocabulary))));
  return batch;
}

/// A classifier of digits, Model(parameters, Options{.norm = norm}), with its loss, on random images.
template <class Model, class Options>
TrainingStep classifier_step(const TrainingStepOptions& options) {
  const auto parameters = std::make_shared<Parameters>(1);
  const auto model = std::make_shared<Model>(*parameters, Options{.norm = options.norm});
  const Tensor images = normal({options.batch, 784});
  std::vector<int> labels(options.batch);
  Random random(3);
  for (int& label : labels) label = static_cast<int>(random.below(10));
  return {.parameters = parameters,
          .loss = [=] { return cross_entropy((*model)(images, Mode::train), labels); },
          .use = [=] { (*model)(images, Mode::evaluate); }};
}

struct SequenceSizes {
  Norm norm = Norm::none;
  size_t steps = 100, batch = 32, input = 128, hidden = 256;
  bool checkpoint = false;
};

/// The mean square of all states of a layer: Rnn, Lstm or Gru.
template <class Layer>
TrainingStep recurrent_step(const SequenceSizes& sizes) {
  const auto parameters = std::make_shared<Parameters>(1);
  const auto layer = std::make_shared<Layer>(
      *parameters, "layer",
      RecurrentOptions{
          .input = sizes.input, .hidden = sizes.hidden, .norm = sizes.norm, .checkpoint = sizes.checkpoint});
  const Tensor x = normal({sizes.steps, sizes.batch, sizes.input});
  return {.parameters = parameters,
          .loss =
              [=] {
                const Tensor states = (*layer)(x).hidden;
                const Scope scope("loss");
                return mean_square(states);
              },
          .use = [=] { (*layer)(x, {.mode = Mode::evaluate}); }};
}

struct LanguageModelSizes {
  Norm norm = Norm::none;
  size_t layers = 6, width = 256, heads = 8, length = 256, batch = 16;
};

inline constexpr size_t different_characters = 80;

/// A causal Transformer with pre-LN over random characters.
inline std::shared_ptr<transformer::Model> language_model(Parameters& parameters,
                                                          const LanguageModelSizes& sizes) {
  return std::make_shared<transformer::Model>(parameters,
                                              transformer::ModelOptions{.vocabulary = different_characters,
                                                                        .width = sizes.width,
                                                                        .layers = sizes.layers,
                                                                        .heads = sizes.heads,
                                                                        .length = sizes.length,
                                                                        .norm = sizes.norm});
}

/// Its loss.
inline TrainingStep language_model_step(const LanguageModelSizes& sizes) {
  const auto parameters = std::make_shared<Parameters>(1);
  const auto model = language_model(*parameters, sizes);
  const auto texts =
      std::make_shared<const TokenBatch>(random_sentences(sizes.batch, sizes.length, different_characters));
  const auto next = std::make_shared<const TokenBatch>(
      random_sentences(sizes.batch, sizes.length, different_characters, 4));
  return {.parameters = parameters,
          .loss =
              [=, rows = sizes.batch] {
                return model->loss(texts->tokens, next->tokens, rows, Mode::train, Random(5));
              },
          .use = [=, rows = sizes.batch] { (*model)(texts->tokens, rows); }};
}

/// The same model writes.
struct WritingStep {
  std::shared_ptr<Parameters> parameters;
  std::function<double()>
      next;  ///< reads one more character of a text and draws the next one, whose number it returns
};
inline WritingStep writing_step(const LanguageModelSizes& sizes) {
  struct Writer {
    std::shared_ptr<transformer::Model> model;
    transformer::Caches caches;
    Random random{2};
    size_t written = 0;
    int last = 0;
  };
  const auto parameters = std::make_shared<Parameters>(1);
  const auto model = language_model(*parameters, sizes);
  const auto writer = std::make_shared<Writer>(Writer{.model = model, .caches = model->caches()});
  return {.parameters = parameters, .next = [writer, length = sizes.length] {
            if (writer->written++ % length == 0)
              for (KeyValueCache& cache : writer->caches) cache.reset();
            const Tensor logits = writer->model->next({&writer->last, 1}, writer->caches);
            return writer->last = transformer::draw_token(logits.values(), {}, writer->random);
          }};
}

}  // namespace lamina
