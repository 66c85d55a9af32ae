#include "models/analysis/normalized_layer.h"

#include <algorithm>

#include "core/ops.h"
#include "layers/norms/batch_norm.h"
#include "layers/norms/group_norm.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/normalization.h"
#include "layers/norms/weight_norm.h"
#include "layers/norms/weight_standardization.h"

namespace lamina::analysis {

namespace {

/// The scheme as models have it, with the layer's gain and bias where it has these; other parameters and running
/// averages as they start.
Tensor as_in_models(Norm norm, const Tensor& a, const LayerValues& layer, real epsilon) {
  if (layer.gain.needs_gradient() || layer.bias.needs_gradient())
    fail("normalized_layer: no derivative for gain and bias under ", name_of(norm),
         "; take batch, layer or rms");
  Parameters parameters(1);
  Normalization normalize(parameters, "norm",
                          {.norm = norm, .features = a.columns(), .part = a.rows() / 2, .epsilon = epsilon});
  for (const auto& [name, value] : parameters.learned())
    for (const auto& [own, given] : {std::pair{"norm.gain", &layer.gain}, {"norm.bias", &layer.bias}})
      if (Tensor target = value; name == own) {
        if (given->shape() != target.shape())
          fail("normalized_layer: ", own, " is ", given->shape(), "; ", target.shape(), " is needed");
        std::ranges::copy(given->values(), target.data());
      }
  return normalize(a, Mode::train);
}

}  // namespace

Tensor normalized_layer(Norm norm, const Tensor& x, const LayerValues& layer, real epsilon) {
  const auto& [weight, gain, bias] = layer;
  switch (norm) {
    case Norm::none:
      return linear(x, weight, bias);
    case Norm::weight:
      return weight_norm_linear(x, weight, gain, bias);
    case Norm::standardized:
      return linear(x, weight_standardization(weight, gain, epsilon), bias);
    case Norm::batch:
      return batch_norm(matmul(x, weight), gain, bias, {.epsilon = epsilon});
    case Norm::layer:
      return layer_norm(matmul(x, weight), gain, bias, epsilon);
    case Norm::rms:
      return rms_norm(matmul(x, weight), gain, epsilon);
    case Norm::group:
      return group_norm(matmul(x, weight), gain, bias, {.groups = unit_groups, .epsilon = epsilon});
    case Norm::instance:
      return group_norm(matmul(x, weight), gain, bias, {.groups = weight.columns(), .epsilon = epsilon});
    case Norm::layer_interior:
      fail("normalized_layer: no ", name_of(norm), " norm here; take one that acts on vectors or maps");
    default:
      return as_in_models(norm, matmul(x, weight), layer, epsilon);
  }
}

}  // namespace lamina::analysis
