#include "models/transformer/model.h"

#include <cmath>
#include <numeric>
#include <string>

#include "core/listener.h"
#include "core/ops.h"
#include "core/tape.h"

namespace lamina::transformer {

namespace {

constexpr real gpt2_deviation = real(0.02), gpt2_position_deviation = real(0.01);

Initializer start_of_vectors(const ModelOptions& options, real gpt2) {
  return normal(options.start == Start::xavier ? std::sqrt(real(0.5)) : gpt2);
}

Initializer start_of_matrices(const ModelOptions& options) {
  return options.start == Start::xavier ? xavier() : normal(gpt2_deviation);
}

TransformerBlockOptions block_options(const ModelOptions& options, size_t number) {
  return {.width = options.width,
          .heads = options.heads,
          .placement = options.placement,
          .norm = options.norm,
          .number = number,
          .causal = true,
          .rotary = options.positions == Positions::rotary,
          .dropout = options.dropout,
          .initial = start_of_matrices(options)};
}

}  // namespace

Model::Model(Parameters& parameters, const ModelOptions& options)
    : options_(options),
      words_(parameters, "words",
             {.entries = options.vocabulary,
              .width = options.width,
              .initial = start_of_vectors(options, gpt2_deviation)}),
      places_(options.length),
      dropout_(options.dropout) {
  if (options.layers == 0 || options.length == 0)
    fail("transformer: ", options.layers, " layers for ", options.length,
         " positions; both must be positive");
  std::iota(places_.begin(), places_.end(), 0);
  if (options.positions == Positions::learned)
    positions_.emplace(parameters, "positions",
                       EmbeddingOptions{.entries = options.length,
                                        .width = options.width,
                                        .initial = start_of_vectors(options, gpt2_position_deviation)});
  if (options.positions == Positions::sinusoidal)
    waves_ = sinusoidal_positions(options.length, options.width);
  for (size_t number = 1; number <= options.layers; ++number)
    blocks_.emplace_back(parameters, text("block", number), block_options(options, number));
  norm_.emplace(norm_after_blocks(parameters, "norm", block_options(options, 1)));
  output_.emplace(
      parameters, "output",
      LinearOptions{
          .input = options.width, .output = options.vocabulary, .initial = start_of_matrices(options)});
  if (options.start == Start::gpt2) start_as_gpt2(parameters);
}

/// What the 2 L parts add to the stream would otherwise make it longer with each block.
void Model::start_as_gpt2(Parameters& parameters) const {
  const real scale = 1 / std::sqrt(2 * static_cast<real>(options_.layers));
  for (const auto& [name, value] : parameters.learned()) {
    const bool ends_in_stream =
        name.find(".attention.out.") != name.npos || name.find(".outer.") != name.npos;
    const bool sets_length = name.ends_with(".weight") || name.ends_with(".gain");  // of weight norm
    if (ends_in_stream && sets_length)
      for (real& each : Tensor(value).values()) each *= scale;
  }
}

/// [count x width], those of the positions from `first` on; empty where attention alone knows them.
Tensor Model::position_vectors(size_t first, size_t count) const {
  if (positions_) {
    if (first + count > options_.length)
      fail("transformer: ", first + count, " tokens, but vectors of ", options_.length,
           " positions; give shorter texts, or train with a larger length");
    return (*positions_)(std::span(places_).subspan(first, count));
  }
  if (!waves_.defined()) return {};
  const size_t end = first + count;
  return (end <= options_.length ? waves_ : sinusoidal_positions(end, options_.width)).slice(first, end);
}

Tensor Model::embed(std::span<const int> tokens, size_t texts, size_t first) const {
  if (texts == 0 || tokens.empty() || tokens.size() % texts != 0)
    fail("transformer: ", tokens.size(), " tokens in ", texts, " texts; give texts of one length");
  const size_t count = tokens.size() / texts;
  const Tensor x = words_(tokens).reshape({texts, count, options_.width});
  const Tensor vectors = position_vectors(first, count);
  return vectors.defined() ? x + vectors : x;
}

Tensor Model::operator()(std::span<const int> tokens, size_t texts, Mode mode, Random noise) {
  Tensor x = dropout_(embed(tokens, texts, 0), mode, noise);
  for (TransformerBlock& block : blocks_) x = block(x, mode, noise);
  return (*output_)((*norm_)(x, mode));
}

Tensor Model::loss(std::span<const int> tokens, std::span<const int> next_tokens, size_t texts, Mode mode,
                   Random noise) {
  const Tensor logits = (*this)(tokens, texts, mode, noise);
  const Scope scope("loss");
  return cross_entropy(logits, next_tokens);
}

Caches Model::caches() const {
  Caches all;
  for (size_t i = 0; i < options_.layers; ++i)
    all.emplace_back(KeyValueCacheOptions{.capacity = options_.length});
  return all;
}

Tensor Model::next(std::span<const int> tokens, Caches& caches) {
  if (caches.size() != blocks_.size())
    fail("transformer: ", caches.size(), " caches for ", blocks_.size(), " blocks; take them from caches()");
  const Tape::Pause pause;
  Tensor x = embed(tokens, 1, caches.front().length());
  for (size_t i = 0; i < blocks_.size(); ++i) x = blocks_[i].next(x, caches[i]);
  return (*output_)((*norm_)(x, Mode::evaluate)).reshape({tokens.size(), options_.vocabulary});
}

}  // namespace lamina::transformer
