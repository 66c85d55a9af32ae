#include "models/order_embedding/model.h"

#include "core/listener.h"
#include "core/ops.h"
#include "models/order_embedding/loss.h"

namespace lamina::order_embedding {

namespace {

const Initializer start = uniform(real(0.1));

}  // namespace

Model::Model(Parameters& parameters, const ModelOptions& options)
    : options_(options),
      words_(parameters, "words",
             {.entries = options.vocabulary, .width = options.embedding, .initial = start}),
      gru_(parameters, "gru",
           {.input = options.embedding,
            .hidden = options.hidden,
            .norm = options.norm,
            .input_initial = start}),
      image_(parameters, "image",
             {.input = options.features, .output = options.hidden, .initial = xavier_uniform()}) {}

Tensor Model::to_point(const Tensor& x) const {
  const Tensor unit = unit_rows(x);
  return options_.score == Score::order ? abs(unit) : unit;
}

Tensor Model::images(const Tensor& features) const { return to_point(image_(features)); }

Tensor Model::captions(const TokenBatch& sentences) const {
  const Tensor words =
      words_(sentences.tokens).reshape({sentences.steps, sentences.rows, options_.embedding});
  return to_point(gru_(words, {.mask = sentences.mask}).last.h);
}

Tensor Model::scores(const Tensor& images, const Tensor& captions) const {
  return options_.score == Score::order ? order_scores(images, captions)
                                        : matmul(images, captions, {.b = Transpose::yes});
}

/// Every rank computes the loss of the whole batch from the points of all, and returns its share of it.
Tensor Model::loss(const Tensor& features, const TokenBatch& sentences, const BatchPart& part) const {
  const Tensor pictures = gather_rows(images(features), part), texts = gather_rows(captions(sentences), part);
  const Scope scope("loss");
  return part_of_mean(contrastive_loss(scores(pictures, texts), margin_of(options_.score)), part);
}

}  // namespace lamina::order_embedding
