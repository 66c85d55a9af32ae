#include "models/mnist/model.h"

#include "core/ops.h"

namespace lamina::mnist {

Model::Model(Parameters& parameters, const ModelOptions& options) {
  const auto add_layer = [&](const std::string& name, size_t input, size_t output, Norm norm) {
    const Linear linear(parameters, name,
                        {.input = input,
                         .output = output,
                         .bias = !entry_of(norm).bias,
                         .weights = weights_of(norm),
                         .initial = he()});
    layers_.push_back(
        {linear, Normalization(parameters, name + ".norm",
                               {.norm = norm, .features = output, .variance = options.variance})});
  };
  const bool normalize_logits = options.norm == Norm::batch || options.norm == Norm::weight;
  add_layer("hidden1", options.pixels, options.hidden, options.norm);
  add_layer("hidden2", options.hidden, options.hidden, options.norm);
  add_layer("logits", options.hidden, options.classes, normalize_logits ? options.norm : Norm::none);
}

Tensor Model::operator()(const Tensor& images, Mode mode) {
  Tensor h = images;
  for (Layer& layer : layers_) {
    const Tensor a = layer.normalize(layer.linear(h), mode);
    h = &layer == &layers_.back() ? a : relu(a);
  }
  return h;
}

}  // namespace lamina::mnist
