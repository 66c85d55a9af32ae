#include "layers/conv2d.h"

#include "layers/named.h"
#include "layers/norms/weight_standardization.h"

namespace lamina {

Conv2d::Conv2d(Parameters& parameters, const std::string& name, const Conv2dOptions& options)
    : geometry{.stride = options.stride, .padding = options.padding}, name_(name) {
  if (options.input == 0 || options.output == 0 || options.kernel == 0 || options.stride == 0)
    fail("conv2d '", name, "': ", options.input, " to ", options.output, " channels, kernel ", options.kernel,
         ", stride ", options.stride, "; all must be positive");
  require_norm("the weights of conv2d '" + name + "'", options.weights, {Norm::none, Norm::standardized});
  const bool standardized = options.weights == Norm::standardized;
  const Shape shape{options.kernel, options.kernel, options.input, options.output};
  const std::string which = name + (standardized ? ".raw_weight" : ".weight");
  const Tensor initial = initial_values(options.initial, which, shape, parameters.random(name + ".weight"));
  weight = parameters.add(which, initial);
  if (standardized) gain = parameters.add(name + ".gain", standardization_gain(initial));
  if (options.bias) bias = parameters.add(name + ".bias", Tensor::zeros({options.output}));
}

Tensor Conv2d::operator()(const Tensor& x) const {
  return in_layer(name_, [&] { return conv2d(x, effective_weight(), bias, geometry); });
}

Tensor Conv2d::effective_weight() const {
  return gain.defined() ? weight_standardization(weight, gain) : weight;
}

}  // namespace lamina
