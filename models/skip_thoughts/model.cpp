#include "models/skip_thoughts/model.h"

#include <array>

#include "core/error.h"
#include "core/listener.h"
#include "core/ops.h"

namespace lamina::skip_thoughts {

namespace {

const Initializer start = uniform(real(0.1));

RecurrentOptions gru_options(Norm norm, const EncoderSizes& sizes) {
  return {.input = sizes.embedding, .hidden = sizes.hidden, .norm = norm, .input_initial = start};
}

RecurrentOptions decoder_options(const ModelOptions& options) {
  RecurrentOptions chosen = gru_options(options.norm, options.sizes);
  if (options.condition == Condition::every_step) chosen.condition = options.sizes.hidden;
  return chosen;
}

}  // namespace

Encoder::Encoder(Parameters& parameters, Norm norm, const EncoderSizes& sizes)
    : words_(parameters, "words", {.entries = sizes.vocabulary, .width = sizes.embedding, .initial = start}),
      gru_(parameters, "encoder", gru_options(norm, sizes)) {}

Tensor Encoder::operator()(const TokenBatch& sentences) const {
  const Tensor x =
      words_(sentences.tokens).reshape({sentences.steps, sentences.rows, words_.table().columns()});
  return gru_(x, {.mask = sentences.mask}).last.h;
}

Tensor Encoder::read(const Tensor& projected, const Tensor& mask) const {
  return gru_.from_projected(projected, {.mask = mask}).last.h;
}

Model::Model(Parameters& parameters, const ModelOptions& options)
    : options_(options),
      encoder_(parameters, options.norm, options.sizes),
      previous_(parameters, "previous", decoder_options(options)),
      next_(parameters, "next", decoder_options(options)),
      output_(parameters, "output",
              {.input = options.sizes.hidden, .output = options.sizes.vocabulary, .initial = start}) {}

/// Step t reads word t - 1, the first one zeros.
Tensor Model::decode(const Gru& decoder, const TokenBatch& sentences, const Tensor& meaning) const {
  const size_t steps = sentences.steps, rows = sentences.rows, width = options_.sizes.embedding;
  Tensor x = Tensor::zeros({1, rows, width});
  if (steps > 1) {
    const Tensor before = encoder_.words()(std::span(sentences.tokens).first((steps - 1) * rows));
    x = concatenate({x, before.reshape({steps - 1, rows, width})}, 0);
  }
  SequenceOptions with{.mask = sentences.mask};
  if (options_.condition == Condition::initial)
    with.initial.h = meaning;
  else
    with.condition = meaning;
  return decoder(x, with).hidden;
}

Tensor Model::loss(const Neighbours& sentences) const {
  const auto& [previous, current, next] = sentences;
  if (previous.rows != current.rows || next.rows != current.rows)
    fail("skip-thoughts: ", current.rows, " sentences with ", previous.rows, " before and ", next.rows,
         " after them; each has one of both");
  const Tensor meaning = encoder_(current);
  const std::vector<int> before = words_to_predict(previous), after = words_to_predict(next);
  const std::array<Predictions, 2> decoders{Predictions{decode(previous_, previous, meaning), before},
                                            Predictions{decode(next_, next, meaning), after}};
  const Scope scope("loss");
  return word_loss(decoders, output_.weight, output_.bias);
}

std::vector<int> words_to_predict(const TokenBatch& sentences) {
  std::vector<int> words(sentences.tokens.begin(), sentences.tokens.end());
  if (sentences.mask.defined())
    for (size_t i = 0; i < words.size(); ++i)
      if (sentences.mask[i] == 0) words[i] = no_word;
  return words;
}

}  // namespace lamina::skip_thoughts
