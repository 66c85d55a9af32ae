#include "layers/linear.h"

#include "core/ops.h"
#include "layers/named.h"
#include "layers/norms/weight_norm.h"
#include "layers/norms/weight_standardization.h"

namespace lamina {

Linear::Linear(Parameters& parameters, const std::string& name, const LinearOptions& options)
    : name_(name), standardized_(options.weight_standardization) {
  if (options.input == 0 || options.output == 0)
    fail("linear '", name, "': ", options.input, " inputs and ", options.output,
         " outputs; both must be positive");
  if (options.weight_norm && options.weight_standardization)
    fail("linear '", name, "': weight norm and weight standardization; choose one");
  const Shape shape{options.input, options.output};
  const std::string which = name + (options.weight_norm ? ".direction"
                                    : standardized_     ? ".raw_weight"
                                                        : ".weight");
  const Tensor initial = initial_values(options.initial, which, shape, parameters.random(name + ".weight"));
  if (options.weight_norm) gain = length_of_columns(initial, which);
  if (standardized_) gain = standardization_gain(initial);
  weight = parameters.add(which, initial);
  if (gain.defined()) gain = parameters.add(name + ".gain", gain);
  if (options.bias) bias = parameters.add(name + ".bias", Tensor::zeros({options.output}));
}

Tensor Linear::operator()(const Tensor& x) const {
  return in_layer(name_, [&] {
    return gain.defined() && !standardized_ ? weight_norm_linear(x, weight, gain, bias)
                                            : linear(x, effective_weight(), bias);
  });
}

Tensor Linear::effective_weight() const {
  if (!gain.defined()) return weight;
  return standardized_ ? weight_standardization(weight, gain) : weight_norm(weight, gain);
}

Tensor composed::affine(const Linear& layer, const Tensor& x) {
  return matmul(x, layer.effective_weight()) + layer.bias;
}

}  // namespace lamina
