#include "models/lab/structure/input_norm.h"

#include "core/error.h"
#include "core/ops.h"
#include "layers/norms/batch_norm.h"
#include "layers/norms/layer_norm.h"
#include "models/analysis/invariance.h"

namespace lamina::lab {

namespace {

using namespace analysis;

struct Row {
  const char* name;
  LayerFunction layer;
};

std::vector<Row> rows_of_table() {
  std::vector<Row> rows;
  for (const Norm norm : {Norm::batch, Norm::weight, Norm::layer})
    rows.push_back({entry_of(norm).name, [norm](const Tensor& x, const LayerValues& layer) {
                      return normalized_layer(norm, x, layer, 0);
                    }});
  for (const auto& [name, norm] :
       {std::pair{"batch of the input", Norm::batch}, {"layer of the input", Norm::layer}})
    rows.push_back({name, [norm = norm](const Tensor& x, const LayerValues& layer) {
                      return normalized_input_layer(norm, x, layer, 0);
                    }});
  return rows;
}

std::string quantity_of(Transformation transformation) {
  return std::string("change under ") + analysis::name_of(transformation);
}

std::vector<Observation> measure(std::int64_t seed, bool quick) {
  Notes notes(seed);
  const InvarianceOptions options{.draws = quick ? 2U : 50U,
                                  .magnitudes = {0.01, 0.1, 0.3, 3, 10, 100},
                                  .seed = static_cast<std::uint64_t>(seed)};
  for (const auto& [name, layer] : rows_of_table())
    for (const Transformation transformation : transformations)
      for (const double magnitude : options.magnitudes)
        notes.add(name, quantity_of(transformation), magnitude,
                  change_under(layer, transformation, magnitude, options));
  return notes.rows();
}

}  // namespace

Tensor normalized_input_layer(Norm norm, const Tensor& x, const LayerValues& layer, real epsilon) {
  if (norm != Norm::batch && norm != Norm::layer)
    fail("normalized_input_layer: no ", lamina::name_of(norm), " norm of an input; take batch or layer");
  const Tensor ones = Tensor::ones({x.columns()}), zeros = Tensor::zeros({x.columns()});
  const Tensor input = norm == Norm::batch ? batch_norm(x, ones, zeros, {.epsilon = epsilon})
                                           : layer_norm(x, ones, zeros, epsilon);
  return linear(input, layer.weight, layer.bias);
}

namespace {

std::vector<LabClaim> input_norm_claims() {
  using enum Transformation;
  /// The output stays, or changes at every magnitude.
  const auto stays = [](const std::string& words, const std::string& row, Transformation transformation) {
    return LabClaim{
        .words = words,
        .subject = {.variant = row, .quantity = quantity_of(transformation), .over = LabNumber::highest},
        .other = {.is = invariance_threshold},
        .in_each_seed = true};
  };
  const auto changes = [](const std::string& words, const std::string& row, Transformation transformation) {
    return LabClaim{
        .words = words,
        .subject = {.variant = row, .quantity = quantity_of(transformation), .over = LabNumber::lowest},
        .other = {.is = 0.01},
        .direction = Claim::higher,
        .in_each_seed = true};
  };
  const std::string batch = "batch of the input", layer = "layer of the input";
  return {
      changes("With layer norm of the input, re-scaling of the weights changes the output", layer,
              matrix_rescaling),
      changes("With layer norm of the input, re-centering of the weights changes it", layer,
              matrix_recentering),
      changes("With batch norm of the input, re-scaling of the weights changes the output", batch,
              matrix_rescaling),
      changes("With batch norm of the input, re-centering of the weights changes it", batch,
              matrix_recentering),
      stays("Layer norm of the input is invariant to re-scaling the dataset", layer, data_rescaling),
      stays("Layer norm of the input is invariant to re-scaling a single case", layer, case_rescaling),
      stays("Batch norm of the input is invariant to re-scaling the dataset", batch, data_rescaling),
      stays("Batch norm of the input is invariant to re-centering the dataset", batch, data_recentering),
      stays("Of all methods: batch norm is invariant to re-scaling the dataset", "batch", data_rescaling),
      stays("Of all methods: layer norm is invariant to re-scaling the dataset", "layer", data_rescaling),
      stays("Of all methods: weight norm is invariant to re-scaling the dataset", "weight", data_rescaling)};
}

}  // namespace

Lab input_norm() {
  std::vector<LabChart> charts;
  for (const Transformation transformation :
       {Transformation::matrix_rescaling, Transformation::data_rescaling, Transformation::case_rescaling})
    charts.push_back({.title = analysis::name_of(transformation),
                      .quantity = quantity_of(transformation),
                      .x_label = "factor",
                      .y_label = "largest change of the output",
                      .log_x = true,
                      .log_y = true});
  return {
      .name = "input-norm",
      .title = "Normalizing a layer's input instead of its summed inputs",
      .sentence =
          "\"If normalization is only applied to the input before the weights, the model will not be "
          "invariant to re-scaling and re-centering of the weights.\" And: \"all the normalization methods "
          "are invariant to re-scaling the dataset\".",
      .source = "Layer Normalization (Ba, Kiros and Hinton 2016), Section 5.1, beside its Table 1",
      .setting =
          "50 random layers of 12 inputs and 16 units, each with 10 random cases, in double and without "
          "epsilon. Weights or data are transformed by six factors from 0.01 to 100, or shifted that far; "
          "the largest change of the output relative to the output.",
      .in_double = true,
      .measure = measure,
      .claims = input_norm_claims(),
      .charts = charts,
  };
}

}  // namespace lamina::lab
