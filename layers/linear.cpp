#include "layers/linear.h"

#include "core/ops.h"
#include "layers/named.h"
#include "layers/norms/weight_norm.h"

namespace lamina {

Linear::Linear(Parameters& parameters, const std::string& name, const LinearOptions& options) : name_(name) {
  if (options.input == 0 || options.output == 0)
    fail("linear '", name, "': ", options.input, " inputs and ", options.output,
         " outputs; both must be positive");
  const Shape shape{options.input, options.output};
  const Tensor initial = options.initial(shape, parameters.random(name + ".weight"));
  if (options.weight_norm) {
    weight = parameters.add(name + ".direction", initial);
    gain = parameters.add(name + ".gain", column_norms(initial));
  } else {
    weight = parameters.add(name + ".weight", initial);
  }
  if (options.bias) bias = parameters.add(name + ".bias", Tensor::zeros({options.output}));
}

Tensor Linear::operator()(const Tensor& x) const {
  return in_layer(name_, [&] {
    return gain.defined() ? weight_norm_linear(x, weight, gain, bias) : linear(x, weight, bias);
  });
}

Tensor Linear::effective_weight() const { return gain.defined() ? weight_norm(weight, gain) : weight; }

}  // namespace lamina
