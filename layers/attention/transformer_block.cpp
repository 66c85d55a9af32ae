#include "layers/attention/transformer_block.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "layers/named.h"

namespace lamina {

const char* name_of(Placement placement) {
  return std::ranges::find(placement_table, placement, &PlacementEntry::placement)->name;
}

std::optional<Placement> placement_named(std::string_view name) {
  for (const PlacementEntry& entry : placement_table)
    if (name == entry.name) return entry.placement;
  return std::nullopt;
}

namespace {

Normalization norm_of(Parameters& parameters, const std::string& name, const TransformerBlockOptions& options,
                      bool exists = true) {
  return {parameters, name, {.norm = exists ? options.norm : Norm::none, .features = options.width}};
}

const TransformerBlockOptions& checked(const std::string& name, const TransformerBlockOptions& options) {
  if (options.number == 0) fail("transformer block '", name, "': number 0; blocks are counted from 1");
  return options;
}

/// f
Tensor activated(Activation activation, const Tensor& summed_inputs) {
  switch (activation) {
    case Activation::gelu:
      return gelu(summed_inputs);
    case Activation::relu:
      return relu(summed_inputs);
  }
  fail("transformer block: there is no activation with the number ", static_cast<int>(activation));
}

LinearOptions linear_options(const TransformerBlockOptions& options, bool inward) {
  const size_t inner = options.inner == 0 ? 4 * options.width : options.inner;
  return {.input = inward ? options.width : inner,
          .output = inward ? inner : options.width,
          .weights = weights_of(options.norm),
          .initial = options.initial};
}

}  // namespace

TransformerBlock::Norms TransformerBlock::norms_of(Parameters& parameters, const std::string& part) const {
  const bool sandwich = options_.placement == Placement::sandwich;
  return {norm_of(parameters, name_ + "." + part + "_norm", options_),
          norm_of(parameters, name_ + "." + part + "_result_norm", options_, sandwich)};
}

TransformerBlock::TransformerBlock(Parameters& parameters, const std::string& name,
                                   const TransformerBlockOptions& options)
    : name_(name),
      options_(checked(name, options)),
      dropout_(options.dropout),
      attention_(parameters, name + ".attention",
                 {.width = options.width,
                  .heads = options.heads,
                  .causal = options.causal,
                  .rotary = options.rotary,
                  .weights = weights_of(options.norm),
                  .initial = options.initial}),
      inner_(parameters, name + ".inner", linear_options(options, true)),
      outer_(parameters, name + ".outer", linear_options(options, false)),
      attention_norms_(norms_of(parameters, "attention")),
      feed_forward_norms_(norms_of(parameters, "feed_forward")) {}

Tensor TransformerBlock::feed_forward(const Tensor& x) const {
  return outer_(activated(options_.activation, inner_(x)));
}

template <class Part>
Tensor TransformerBlock::add_part(const Tensor& x, Mode mode, Random* random, Norms& norms,
                                  const Part& part) {
  const auto noisy = [&](const Tensor& y) { return random == nullptr ? y : dropout_(y, mode, *random); };
  switch (options_.placement) {
    case Placement::post:
      return norms.norm(x + noisy(part(x)), mode);
    case Placement::pre:
      return x + noisy(part(norms.norm(x, mode)));
    case Placement::sandwich:
      return x + noisy(norms.result_norm(part(norms.norm(x, mode)), mode));
    case Placement::scaled_pre:
      break;
  }
  const real scale = 1 / std::sqrt(static_cast<real>(options_.number));
  return x + noisy(part(norms.norm(x, mode) * scale));
}

template <class Attend>
Tensor TransformerBlock::run(const Tensor& x, Mode mode, Random* random, const Attend& attend) {
  require_values("transformer block", x);
  if (x.shape().rank() != 3 || x.columns() != options_.width)
    fail("transformer block '", name_, "': x is ", x.shape(), "; it must be [cases x length x ",
         options_.width, "]");
  const Tensor y = add_part(x, mode, random, attention_norms_, attend);
  return add_part(y, mode, random, feed_forward_norms_, [&](const Tensor& z) { return feed_forward(z); });
}

Tensor TransformerBlock::operator()(const Tensor& x, Mode mode, Random& random,
                                    const AttentionOptions& options) {
  return run(x, mode, &random, [&](const Tensor& y) { return attention_(y, options); });
}

Tensor TransformerBlock::operator()(const Tensor& x, Mode mode, const AttentionOptions& options) {
  if (mode == Mode::train && dropout_.rate > 0)
    fail("transformer block '", name_, "': dropout ", dropout_.rate,
         " in training needs a Random for its noise");
  return run(x, mode, nullptr, [&](const Tensor& y) { return attention_(y, options); });
}

Tensor TransformerBlock::next(const Tensor& x, KeyValueCache& cache) {
  const Tape::Pause pause;
  return run(x, Mode::evaluate, nullptr, [&](const Tensor& y) { return attention_.next(y, cache); });
}

Normalization norm_after_blocks(Parameters& parameters, const std::string& name,
                                const TransformerBlockOptions& options) {
  return norm_of(parameters, name, options, options.placement != Placement::post);
}

}  // namespace lamina
