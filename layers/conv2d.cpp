#include "layers/conv2d.h"

#include "layers/named.h"

namespace lamina {

Conv2d::Conv2d(Parameters& parameters, const std::string& name, const Conv2dOptions& options)
    : geometry{.stride = options.stride, .padding = options.padding}, name_(name) {
  if (options.input == 0 || options.output == 0 || options.kernel == 0 || options.stride == 0)
    fail("conv2d '", name, "': ", options.input, " to ", options.output, " channels, kernel ", options.kernel,
         ", stride ", options.stride, "; all must be positive");
  const Shape shape{options.kernel, options.kernel, options.input, options.output};
  weight = parameters.add(name + ".weight", options.initial(shape, parameters.random(name + ".weight")));
  if (options.bias) bias = parameters.add(name + ".bias", Tensor::zeros({options.output}));
}

Tensor Conv2d::operator()(const Tensor& x) const {
  return in_layer(name_, [&] { return conv2d(x, weight, bias, geometry); });
}

}  // namespace lamina
