#include "models/analysis/normalized_layer.h"

#include "core/ops.h"
#include "layers/norms/batch_norm.h"
#include "layers/norms/group_norm.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/weight_norm.h"

namespace lamina::analysis {

Tensor normalized_layer(Norm norm, const Tensor& x, const LayerValues& layer, real epsilon) {
  const auto& [weight, gain, bias] = layer;
  switch (norm) {
    case Norm::none:
      return linear(x, weight, bias);
    case Norm::weight:
      return weight_norm_linear(x, weight, gain, bias);
    case Norm::batch:
      return batch_norm(matmul(x, weight), gain, bias, epsilon);
    case Norm::layer:
      return layer_norm(matmul(x, weight), gain, bias, epsilon);
    case Norm::rms:
      return rms_norm(matmul(x, weight), gain, epsilon);
    case Norm::group:
      return group_norm(matmul(x, weight), gain, bias, {.groups = unit_groups, .epsilon = epsilon});
    case Norm::instance:
      return group_norm(matmul(x, weight), gain, bias, {.groups = weight.columns(), .epsilon = epsilon});
    case Norm::layer_interior:
      break;
  }
  fail("normalized_layer: no ", name_of(norm), " norm here; take one that acts on vectors or maps");
}

}  // namespace lamina::analysis
