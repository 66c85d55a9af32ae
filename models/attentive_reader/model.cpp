#include "models/attentive_reader/model.h"

#include "core/listener.h"
#include "core/ops.h"
#include "layers/dropout.h"

namespace lamina::attentive_reader {

namespace {

const ModelOptions& checked(const ModelOptions& options) {
  if (options.vocabulary == 0 || options.entities == 0 || options.embedding == 0 || options.hidden == 0)
    fail("attentive reader: a size is 0; all must be positive");
  if (options.norm != Norm::none && options.norm != Norm::batch && options.norm != Norm::layer)
    fail("attentive reader: norm is ", name_of(options.norm), "; choose none, batch or layer");
  if (options.everywhere && options.norm != Norm::batch)
    fail("attentive reader: 'everywhere' belongs to batch norm");
  return options;
}

Lstm make_lstm(Parameters& parameters, const std::string& name, const ModelOptions& options) {
  return {parameters,
          name,
          {.input = options.embedding,
           .hidden = options.hidden,
           .norm = options.norm,
           .gain = options.gain,
           .max_steps = options.max_steps,
           .learn_initial = options.learn_initial}};
}

Linear make_linear(Parameters& parameters, const std::string& name, const ModelOptions& options,
                   size_t output, bool bias) {
  return {parameters, name, {.input = options.hidden, .output = output, .bias = bias}};
}

}  // namespace

Model::Projection::Projection(Parameters& parameters, const std::string& name, const ModelOptions& options,
                              bool bias)
    : linear(make_linear(parameters, name, options, options.hidden, bias && !options.everywhere)) {
  if (options.everywhere)
    norm.emplace(parameters, name + ".norm", MaskedBatchNormOptions{.features = options.hidden});
}

Tensor Model::Projection::operator()(const Tensor& x, const Tensor& mask, Mode mode) const {
  const Tensor projected = linear(x);
  return norm ? (*norm)(projected, mask, mode) : projected;
}

Model::Model(Parameters& parameters, const ModelOptions& options)
    : options_(checked(options)),
      words_(parameters, "words",
             {.entries = options.vocabulary, .width = options.embedding, .initial = normal(real(0.1))}),
      passage_lstm_(make_lstm(parameters, "passage_lstm", options)),
      question_lstm_(make_lstm(parameters, "question_lstm", options)),
      attend_state_(parameters, "attend_state", options, true),
      attend_question_(parameters, "attend_question", options, false),
      attend_weight_(parameters.add(
          "attend_weight",
          xavier()({options.hidden, 1}, parameters.random("attend_weight")).reshape({options.hidden}))),
      from_context_(parameters, "from_context", options, true),
      from_question_(parameters, "from_question", options, false),
      output_(make_linear(parameters, "output", options, options.entities, true)) {
  if (options.bilinear)
    relation_.emplace(make_linear(parameters, "relation", options, options.hidden, false));
  if (options.mean_state) from_mean_.emplace(parameters, "from_mean", options, false);
}

Tensor Model::embed(const TokenBatch& batch, Mode mode, Random random) const {
  const Tensor words = words_(batch.tokens).reshape({batch.steps, batch.rows, options_.embedding});
  return Dropout(options_.dropout)(words, mode, random);
}

Answers Model::operator()(const QuestionBatch& batch, Mode mode, Random random) const {
  const Tensor question = question_lstm_(embed(batch.questions, mode, random.split(0)),
                                         {.mask = batch.questions.mask, .mode = mode})
                              .last.h;
  const Tensor states =
      passage_lstm_(embed(batch.passages, mode, random.split(1)), {.mask = batch.passages.mask, .mode = mode})
          .hidden;
  return answer(states, batch.passages.mask, question, mode);
}

Answers Model::answer(const Tensor& states, const Tensor& mask, const Tensor& question, Mode mode) const {
  const Attended attended = attend({.states = states,
                                    .keys = attend_state_(states, mask, mode),
                                    .query = attend_question_(question, {}, mode),
                                    .relation = relation_ ? (*relation_)(question) : Tensor(),
                                    .weight = attend_weight_,
                                    .mask = mask});
  Tensor g = from_context_(attended.context, {}, mode) + from_question_(question, {}, mode);
  if (from_mean_) g = g + (*from_mean_)(attentive_reader::mean_state(states, mask), {}, mode);
  return {.logits = output_(tanh(g)), .attention = attended.weights};
}

}  // namespace lamina::attentive_reader
