#include "layers/linear.h"

#include "core/ops.h"
#include "layers/named.h"
#include "layers/norms/weight_norm.h"
#include "layers/norms/weight_standardization.h"

namespace lamina {

Linear::Linear(Parameters& parameters, const std::string& name, const LinearOptions& options)
    : name_(name), weights_(options.weights) {
  if (options.input == 0 || options.output == 0)
    fail("linear '", name, "': ", options.input, " inputs and ", options.output,
         " outputs; both must be positive");
  require_norm("the weights of linear '" + name + "'", weights_,
               {Norm::none, Norm::weight, Norm::standardized});
  const bool directions = weights_ == Norm::weight, standardized = weights_ == Norm::standardized;
  const Shape shape{options.input, options.output};
  const std::string which = name + (directions ? ".direction" : standardized ? ".raw_weight" : ".weight");
  const Tensor initial = initial_values(options.initial, which, shape, parameters.random(name + ".weight"));
  if (directions) gain = length_of_columns(initial, which);
  if (standardized) gain = standardization_gain(initial);
  weight = parameters.add(which, initial);
  if (gain.defined()) gain = parameters.add(name + ".gain", gain);
  if (options.bias) bias = parameters.add(name + ".bias", Tensor::zeros({options.output}));
}

Tensor Linear::operator()(const Tensor& x) const {
  return in_layer(name_, [&] {
    return weights_ == Norm::weight ? weight_norm_linear(x, weight, gain, bias)
                                    : linear(x, effective_weight(), bias);
  });
}

Tensor Linear::effective_weight() const {
  if (weights_ == Norm::weight) return weight_norm(weight, gain);
  return weights_ == Norm::standardized ? weight_standardization(weight, gain) : weight;
}

Tensor composed::affine(const Linear& layer, const Tensor& x) {
  return matmul(x, layer.effective_weight()) + layer.bias;
}

}  // namespace lamina
