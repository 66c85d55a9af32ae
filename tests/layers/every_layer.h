#pragma once
// Every layer of the library with a loss on top: for properties that must hold for all layers.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/ops.h"
#include "layers/attention/transformer_block.h"
#include "layers/conv2d.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/norms/batch_norm.h"
#include "layers/norms/group_norm.h"
#include "layers/norms/masked_batch_norm.h"
#include "layers/norms/norm.h"
#include "layers/norms/normalization.h"
#include "tests/layers/recurrent/recurrent_cases.h"

namespace lamina::test {

/// A layer between a shared trunk and a loss; loss() records the same numbers at every call. The layer's
/// backward pass must be linear in the incoming gradient (that of clip_gradient is not).
struct LayerCase {
  std::string name;
  /// Adds the layer to the parameters and returns its loss.
  std::function<std::function<Tensor()>(Parameters&)> make;
};

/// The case of a layer made by make(parameters) and called with an input of this shape, which is computed
/// from a parameter.
template <class Make>
LayerCase layer_case(const std::string& name, const Shape& input, const Make& make) {
  return {name, [=](Parameters& parameters) -> std::function<Tensor()> {
            const auto layer = make(parameters);
            const Tensor trunk = parameters.add("trunk", sample(input, 11));
            return [=] { return weighted(layer(tanh(trunk))); };
          }};
}

/// A layer whose operator() takes a tensor, or a tensor and a Mode.
template <class Kind, class Options>
LayerCase layer_case_of(const std::string& name, const Shape& input, const Options& options) {
  return layer_case(name, input, [=](Parameters& parameters) {
    auto layer = std::make_shared<Kind>(parameters, "layer", options);
    return [=](const Tensor& x) {
      if constexpr (requires { (*layer)(x, Mode::train, ReluPool{}); })
        return (*layer)(x, Mode::train);
      else
        return (*layer)(x);
    };
  });
}

inline void add_recurrent_cases(std::vector<LayerCase>& all) {
  std::vector<Case> cases = all_cases();
  for (const Kind kind : kinds_but_relu)
    for (const Norm norm : {Norm::none, Norm::layer, Norm::weight})
      cases.push_back(
          {.kind = kind,
           .options = {.input = 3, .hidden = 5, .norm = norm, .learn_initial = true, .checkpoint = true}});
  for (const Case& c : cases)
    for (const bool by_steps : {false, true}) {
      if (by_steps && (c.options.reverse || c.options.checkpoint)) continue;
      const auto make = [=](Parameters& parameters) -> std::function<Tensor()> {
        std::shared_ptr<Recurrent> layer;
        with_class(c.kind, [&]<class Layer>(const auto&... cell) {
          layer = std::make_shared<Layer>(parameters, "layer", c.options, cell...);
        });
        Inputs in = inputs_of(c);
        in.x = parameters.add("trunk", in.x.copy());
        if (in.h.defined()) in.h = parameters.add("h", in.h.copy());
        if (in.c.defined()) in.c = parameters.add("c", in.c.copy());
        return [=] {
          return loss_of(in, [&](const Tensor& x, const SequenceOptions& with) {
            return by_steps ? run_steps(*layer, tanh(x), with) : (*layer)(tanh(x), with);
          });
        };
      };
      all.push_back(
          {describe(c) + (c.options.checkpoint ? ", checkpointed" : "") + (by_steps ? ", by steps" : ""),
           make});
    }
}

inline void add_attention_cases(std::vector<LayerCase>& all) {
  const Shape texts{2, 4, 6};
  all.push_back(layer_case("self attention", texts, [](Parameters& parameters) {
    const MultiHeadAttention layer(parameters, "layer",
                                   {.width = 6, .heads = 3, .causal = true, .rotary = true});
    return [=](const Tensor& x) { return layer(x, {.lengths = {4, 2}}); };
  }));
  all.push_back(layer_case("cross attention", texts, [](Parameters& parameters) {
    const MultiHeadAttention layer(parameters, "layer", {.width = 6, .heads = 2, .memory_width = 5});
    const Tensor memory = sample({2, 3, 5}, 12);
    return [=](const Tensor& x) { return layer(x, memory); };
  }));
  for (const PlacementEntry& entry : placement_table)
    all.push_back(layer_case(text("transformer block, ", entry.title), texts, [=](Parameters& parameters) {
      auto block = std::make_shared<TransformerBlock>(
          parameters, "layer",
          TransformerBlockOptions{
              .width = 6, .heads = 2, .placement = entry.placement, .number = 2, .dropout = real(0.25)});
      return [=](const Tensor& x) {
        Random random(3);
        return (*block)(x, Mode::train, random);
      };
    }));
}

/// Every scheme of norm_table but batch renormalization, whose values depend on the calls before.
inline void add_norm_cases(std::vector<LayerCase>& all, const Shape& rows, const Shape& maps) {
  for (const NormEntry& entry : norm_table) {
    if (entry.norm == Norm::renorm) continue;
    if (entry.vectors)
      all.push_back(layer_case_of<Normalization>(
          entry.title, rows,
          NormalizationOptions{.norm = entry.norm, .features = rows.columns(), .groups = 1}));
    if (entry.maps)
      all.push_back(layer_case_of<Normalization>(text(entry.title, " of maps"), maps,
                                                 NormalizationOptions{.norm = entry.norm,
                                                                      .features = maps.columns(),
                                                                      .height = maps[1],
                                                                      .width = maps[2],
                                                                      .groups = 2}));
  }
}

inline std::vector<LayerCase> every_layer() {
  const Shape rows{6, 5}, maps{2, 6, 6, 4};
  std::vector<LayerCase> all;
  all.push_back(layer_case_of<Linear>("linear", rows, LinearOptions{.input = 5, .output = 3}));
  all.push_back(layer_case_of<Linear>("linear, weight norm", rows,
                                      LinearOptions{.input = 5, .output = 3, .weights = Norm::weight}));
  all.push_back(layer_case_of<Linear>("linear, standardized", rows,
                                      LinearOptions{.input = 5, .output = 3, .weights = Norm::standardized}));
  add_norm_cases(all, rows, maps);
  all.push_back(
      layer_case_of<Conv2d>("convolution", maps, Conv2dOptions{.input = 4, .output = 3, .padding = 1}));
  all.push_back(layer_case_of<Conv2d>("convolution, standardized", maps,
                                      Conv2dOptions{.input = 4, .output = 3, .weights = Norm::standardized}));
  all.push_back(
      layer_case_of<BatchNorm>("ghost batch norm", rows, BatchNormOptions{.features = 5, .part = 3}));
  all.push_back(
      layer_case_of<BatchNorm>("ghost batch norm of maps", maps, BatchNormOptions{.features = 4, .part = 1}));
  all.push_back(layer_case("group norm", maps, [](Parameters& parameters) {
    const GroupNorm norm(parameters, "layer", {4}, {.groups = 2});
    return [=](const Tensor& x) { return norm(x, {.relu = true, .window = 2}); };
  }));
  all.push_back(layer_case("masked batch norm", rows, [](Parameters& parameters) {
    const MaskedBatchNorm norm(parameters, "layer", {.features = 5});
    return [=](const Tensor& x) { return norm(x, Tensor::from({6}, {1, 1, 0, 1, 1, 1}), Mode::train); };
  }));
  all.push_back(layer_case("embedding beside its table", Shape{4, 5}, [](Parameters& parameters) {
    const Embedding words(parameters, "layer", {.entries = 7, .width = 5});
    return [=](const Tensor& x) {
      const std::vector<int> indices = {2, 0, 2, 5};
      return matmul(words(indices) * x, words.table(), {.b = Transpose::yes}) + mean(words(indices));
    };
  }));
  all.push_back(layer_case("convolution, pooling and dropout", maps, [](Parameters& parameters) {
    const Conv2d layer(parameters, "layer", {.input = 4, .output = 3, .bias = false});
    return [=](const Tensor& x) {
      Random random(3);
      return dropout(max_pool2d(layer(x)) + average_pool2d(layer(x)), real(0.25), random);
    };
  }));
  all.push_back(layer_case("losses", rows, [](Parameters& parameters) {
    const Linear layer(parameters, "layer", {.input = 5, .output = 4});
    return [=](const Tensor& x) {
      const Tensor y = layer(x);
      return cross_entropy(y, {0, 3, 1, 2, 2, 1}) +
             cross_entropy(y, {0, 3, 1, 2, 2, 1}, {.label_smoothing = real(0.1)}) +
             mean_squared_error(y, sigmoid(y)) + huber(y, softmax(y)) + mean(log_softmax(y)) +
             mean(bernoulli_cross_entropy(y, Tensor::full({6, 4}, real(0.25))));
    };
  }));
  all.push_back(layer_case("primitive ops", rows, [](Parameters& parameters) {
    const Tensor weight = parameters.add("layer.weight", sample({5, 5}, 4, 0.5, 1));
    return [=](const Tensor& x) {
      const Tensor h = matmul(x, weight), both = concatenate({h, slice(h, 1, 1, 4)}, 1);
      return transpose(unit_rows(both)) / (real(2) + exp(sum(square(weight)) * real(0.01))) +
             mean(abs(gather(weight, std::vector<int>{1, 1, 4})) - relu(weight.slice(0, 3))) +
             sum(mean_rows(sqrt(weight) * log(weight))) - sum(sum_columns(h - mean_columns(h)));
    };
  }));
  all.push_back(layer_case("ops over axes", rows, [](Parameters& parameters) {
    const Tensor weight = parameters.add("layer.weight", sample({2, 5, 3}, 4, 0.5, 1));
    return [=](const Tensor& x) {
      const Tensor h = matmul(x, weight), turned = permute(h, {0, 2, 1}), both = stack({h, h * real(2)}, 1);
      return softmax(h, 1) * maximum(h, softplus(h)) + sum(log_softmax(turned, 1) + gelu(turned)) +
             mean(variance(both, 1)) + sum(pad(pow(weight, 3), {{1, 0}, {0, 0}, {0, 1}})) +
             mean(where(Tensor::from({1, 3}, {1, 0, 1}), h,
                        real(1) / weight.slice(0, 1).reshape({5, 3}).slice(0, 1)));
    };
  }));
  add_attention_cases(all);
  add_recurrent_cases(all);
  return all;
}

}  // namespace lamina::test
