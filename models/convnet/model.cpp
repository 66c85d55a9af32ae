#include "models/convnet/model.h"

#include "core/ops.h"
#include "core/tape.h"

namespace lamina::convnet {

Model::Convolution Model::convolution(Parameters& parameters, const std::string& name, size_t input,
                                      size_t output, size_t side) const {
  return {Conv2d(parameters, name,
                 {.input = input,
                  .output = output,
                  .kernel = kernel,
                  .padding = padding,
                  .bias = !entry_of(options_.norm).bias,
                  .weights = weights_of(options_.norm)}),
          Normalization(parameters, name + ".norm",
                        {.norm = options_.norm,
                         .features = output,
                         .height = side,
                         .width = side,
                         .border = padding,
                         .variance = options_.variance})};
}

Model::Model(Parameters& parameters, const ModelOptions& options)
    : options_(options),
      convolutions_{
          convolution(parameters, "conv1", 1, options.channels[0], options.side),
          convolution(parameters, "conv2", options.channels[0], options.channels[1], options.side / pool)},
      hidden_(parameters, "hidden",
              {.input = options.side / pool / pool * (options.side / pool / pool) * options.channels[1],
               .output = options.hidden,
               .bias = !entry_of(options.norm).bias,
               .weights = weights_of(options.norm),
               .initial = he()}),
      logits_(parameters, "logits", {.input = options.hidden, .output = options.classes, .initial = he()}),
      normalize_hidden_(parameters, "hidden.norm",
                        {.norm = options.norm, .features = options.hidden, .variance = options.variance}) {}

Tensor Model::operator()(const Tensor& images, Mode mode) {
  const size_t cases = images.shape()[0];
  Tensor h = images.reshape({cases, options_.side, options_.side, 1});
  for (auto& [convolve, normalize] : convolutions_)
    h = normalize(convolve(h), mode, {.relu = true, .window = pool});
  const Tensor a = hidden_(h.reshape({cases, h.size() / cases}));
  return logits_(normalize_hidden_(a, mode, {.relu = true}));
}

std::array<LayerView, 2> Model::inspect(const Tensor& images) {
  const Tape::Pause pause;
  std::array<LayerView, 2> views;
  Tensor h = images.reshape({images.shape()[0], options_.side, options_.side, 1});
  for (size_t layer = 0; layer < views.size(); ++layer) {
    auto& [convolve, normalize] = convolutions_[layer];
    views[layer].summed_inputs = convolve(h);
    views[layer].outputs = normalize(views[layer].summed_inputs, Mode::evaluate, {.relu = true});
    h = max_pool2d(views[layer].outputs, {.window = pool});
  }
  return views;
}

}  // namespace lamina::convnet
