#include "models/attentive_reader/model.h"

#include <cmath>

#include "core/listener.h"
#include "core/ops.h"
#include "layers/dropout.h"
#include "models/attentive_reader/initial.h"

namespace lamina::attentive_reader {

namespace {

const ModelOptions& checked(const ModelOptions& options) {
  if (options.vocabulary == 0 || options.answers == 0 || options.embedding == 0 || options.hidden == 0)
    fail("attentive reader: a size is 0; all must be positive");
  require_norm("attentive reader", options.norm, {Norm::none, Norm::batch, Norm::layer});
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
           .learn_initial = options.learn_initial,
           .learn_initial_memory = false,
           .input_initial = square_or_uniform(options.hidden),
           .hidden_initial = orthogonal(real(0.05))}};
}

Tensor make_attend_weight(Parameters& parameters, size_t hidden) {
  const real bound = 1 / std::sqrt(static_cast<real>(hidden));
  return parameters.add("attend_weight", uniform(bound)({hidden}, parameters.random("attend_weight")));
}

}  // namespace

Model::Projection::Projection(Parameters& parameters, const std::string& name, const ModelOptions& options,
                              bool bias, const Initializer& initial)
    : linear(parameters, name,
             {.input = options.hidden,
              .output = options.hidden,
              .bias = bias && !options.everywhere,
              .initial = initial}) {
  if (!options.everywhere) return;
  MaskedBatchNormOptions chosen{.features = options.hidden, .bias = bias};
  if (options.gain != 0) chosen.gain = options.gain;
  norm.emplace(parameters, name + ".norm", chosen);
}

Tensor Model::Projection::operator()(const Tensor& x, const Tensor& mask, Mode mode) const {
  const Tensor projected = linear(x);
  return norm ? (*norm)(projected, mask, mode) : projected;
}

Model::Model(Parameters& parameters, const ModelOptions& options)
    : options_(checked(options)),
      words_(parameters, "words",
             {.entries = options.vocabulary, .width = options.embedding, .initial = uniform_by_size()}),
      passage_lstm_(make_lstm(parameters, "passage_lstm", options)),
      question_lstm_(make_lstm(parameters, "question_lstm", options)),
      attend_state_(parameters, "attend_state", options, true, square_or_uniform(options.hidden)),
      attend_question_(parameters, "attend_question", options, false, uniform_by_size()),
      attend_weight_(make_attend_weight(parameters, options.hidden)),
      from_context_(parameters, "from_context", options, false, uniform_by_size()),
      from_question_(parameters, "from_question", options, true, uniform_by_size()),
      output_(parameters, "output",
              {.input = options.hidden, .output = options.answers, .initial = uniform_by_size()}) {
  if (options.bilinear)
    relation_.emplace(parameters, "relation",
                      LinearOptions{.input = options.hidden,
                                    .output = options.hidden,
                                    .bias = false,
                                    .initial = square_or_uniform(options.hidden)});
  if (options.mean_state) from_mean_.emplace(parameters, "from_mean", options, false, uniform_by_size());
}

std::vector<Population> Model::populations() const {
  std::vector<Population> all = passage_lstm_.populations();
  for (const Population& population : question_lstm_.populations()) all.push_back(population);
  for (const Projection* const projection :
       {&attend_state_, &attend_question_, &from_context_, &from_question_})
    if (projection->norm) all.push_back(projection->norm->population);
  if (from_mean_ && from_mean_->norm) all.push_back(from_mean_->norm->population);
  return all;
}

Tensor Model::embed(const TokenBatch& batch, Mode mode, Random random) const {
  const Tensor words = words_(batch.tokens).reshape({batch.steps, batch.rows, options_.embedding});
  return Dropout(options_.dropout)(words, mode, random);
}

Answers Model::operator()(const QuestionBatch& batch, Mode mode, Random random) const {
  const auto read = [&](const Lstm& lstm, const TokenBatch& side, std::uint64_t stream) {
    return lstm(embed(side, mode, random.split(stream)),
                {.mask = side.mask, .mode = mode, .count_padded = batch.count_padded});
  };
  const Tensor question = read(question_lstm_, batch.questions, 0).last.h;
  const Tensor states = read(passage_lstm_, batch.passages, 1).hidden;
  return answer(states, batch, question, mode, random.split(2));
}

Answers Model::answer(const Tensor& states, const QuestionBatch& batch, const Tensor& question, Mode mode,
                      Random random) const {
  const Tensor mask = batch.passages.mask, counted = batch.count_padded ? Tensor() : mask;
  const auto relation = [&] {  // U^T U u
    return matmul((*relation_)(question), relation_->weight, {.b = Transpose::yes});
  };
  const Attended attended = attend({.states = states,
                                    .keys = attend_state_(states, counted, mode),
                                    .query = attend_question_(question, {}, mode),
                                    .relation = relation_ ? relation() : Tensor(),
                                    .weight = attend_weight_,
                                    .mask = mask});
  Tensor g = from_context_(attended.context, {}, mode) + from_question_(question, {}, mode);
  if (from_mean_) g = g + (*from_mean_)(attentive_reader::mean_state(states, mask), {}, mode);
  return {.logits = output_(Dropout(options_.dropout)(tanh(g), mode, random)), .attention = attended.weights};
}

}  // namespace lamina::attentive_reader
