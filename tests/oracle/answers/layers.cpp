// Layers with their parameters, by name. The case holds a tensor for each parameter, under the parameter's name.

#include "layers/attention/transformer_block.h"
#include "layers/conv2d.h"
#include "layers/dropout.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/norms/masked_batch_norm.h"
#include "layers/norms/normalization.h"
#include "tests/oracle/answers/instruction.h"

namespace lamina::oracle {

namespace {

Mode mode(const Instruction& in) { return in.flag("evaluate") ? Mode::evaluate : Mode::train; }

Parameters& new_parameters(const Instruction& in) { return in.keep<Parameters>(1); }

std::vector<Tensor> run_normalization(const Instruction& in) {
  Parameters& parameters = new_parameters(in);
  auto& layer = in.keep<Normalization>(
      parameters, "layer",
      NormalizationOptions{.norm = norm_named(in.word("norm")).value(),
                           .features = in.size("features"),
                           .height = in.size("height", 1),
                           .width = in.size("width", 1),
                           .groups = in.size("groups", 1),
                           .border = in.size("border"),
                           .variance = in.flag("unbiased") ? Variance::unbiased : Variance::biased});
  in.adopt(parameters);
  return {layer(in.input(0), mode(in), {.relu = in.flag("relu"), .window = in.size("window", 1)})};
}

std::vector<Tensor> run_batch_norm(const Instruction& in) {
  Parameters& parameters = new_parameters(in);
  auto& layer = in.keep<BatchNorm>(
      parameters, "layer",
      BatchNormOptions{.features = in.size("features"),
                       .momentum = in.number("momentum", real(0.1)),
                       .variance = in.flag("unbiased") ? Variance::unbiased : Variance::biased});
  in.adopt(parameters);
  const Tensor y = layer(in.input(0), mode(in));
  return {y, layer.running_mean.copy(), layer.running_variance.copy()};
}

std::vector<Tensor> run_masked_batch_norm(const Instruction& in) {
  Parameters& parameters = new_parameters(in);
  auto& layer =
      in.keep<MaskedBatchNorm>(parameters, "layer", MaskedBatchNormOptions{.features = in.size("features")});
  in.adopt(parameters);
  const bool composed = in.flag("composed");
  const Tensor y = composed ? composed::masked_batch_norm(in.input(0), in.input(1), layer.gain, layer.bias)
                            : layer(in.input(0), in.input(1), mode(in));
  if (composed) return {y};
  return {y, layer.population.mean.reshape({in.size("features")}),
          layer.population.variance.reshape({in.size("features")})};
}

AttentionOptions attention_options(const Instruction& in) {
  const std::vector<int> lengths = in.integers("lengths");
  return {.causal = in.flag("causal"), .lengths = {lengths.begin(), lengths.end()}};
}

std::vector<Tensor> run_attention(const Instruction& in) {
  Parameters& parameters = new_parameters(in);
  const size_t memory_width = in.size("memory_width");
  auto& layer = in.keep<MultiHeadAttention>(parameters, "layer",
                                            MultiHeadAttentionOptions{.width = in.size("width"),
                                                                      .heads = in.size("heads"),
                                                                      .memory_width = memory_width,
                                                                      .rotary = in.flag("rotary")});
  in.adopt(parameters);
  if (memory_width > 0) return {layer(in.input(0), in.input(1), attention_options(in))};
  return {layer(in.input(0), attention_options(in))};
}

std::vector<Tensor> run_block(const Instruction& in) {
  Parameters& parameters = new_parameters(in);
  auto& block = in.keep<TransformerBlock>(
      parameters, "layer",
      TransformerBlockOptions{.width = in.size("width"),
                              .heads = in.size("heads"),
                              .inner = in.size("inner"),
                              .placement = placement_named(in.word("placement")).value(),
                              .norm = norm_named(in.word("norm")).value(),
                              .number = in.size("number"),
                              .rotary = in.flag("rotary"),
                              .activation = in.flag("relu") ? Activation::relu : Activation::gelu});
  in.adopt(parameters);
  return {block(in.input(0), Mode::train, attention_options(in))};
}

}  // namespace

void add_layers(Functions& functions) {
  functions["linear_layer"] = [](const Instruction& in) {
    Parameters& parameters = new_parameters(in);
    auto& layer = in.keep<Linear>(parameters, "layer",
                                  LinearOptions{.input = in.size("input"),
                                                .output = in.size("output"),
                                                .bias = in.flag("bias"),
                                                .weights = norm_named(in.word("weights")).value()});
    in.adopt(parameters);
    return std::vector{layer(in.input(0))};
  };
  functions["conv2d_layer"] = [](const Instruction& in) {
    Parameters& parameters = new_parameters(in);
    auto& layer = in.keep<Conv2d>(parameters, "layer",
                                  Conv2dOptions{.input = in.size("input"),
                                                .output = in.size("output"),
                                                .kernel = in.size("kernel"),
                                                .stride = in.size("stride", 1),
                                                .padding = in.size("padding"),
                                                .bias = in.flag("bias")});
    in.adopt(parameters);
    return std::vector{layer(in.input(0))};
  };
  functions["embedding"] = [](const Instruction& in) {
    Parameters& parameters = new_parameters(in);
    auto& layer = in.keep<Embedding>(
        parameters, "layer", EmbeddingOptions{.entries = in.size("entries"), .width = in.size("width")});
    in.adopt(parameters);
    return std::vector{layer(in.integers("indices")), layer(in.integers("second"))};
  };
  functions["dropout"] = [](const Instruction& in) {
    Random random(1);
    return std::vector{Dropout(in.number("rate", 0))(in.input(0), Mode::evaluate, random)};
  };
  functions["self_attention_layer"] = functions["cross_attention_layer"] = run_attention;
  functions["transformer_block"] = run_block;
  functions["normalization"] = run_normalization;
  functions["batch_norm_layer"] = run_batch_norm;
  functions["masked_batch_norm"] = run_masked_batch_norm;
}

}  // namespace lamina::oracle
