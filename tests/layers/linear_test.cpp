// The fully connected layer with its options.

#include "layers/linear.h"

#include "layers/conv2d.h"
#include "layers/norms/norm.h"
#include "layers/norms/weight_norm.h"
#include "layers/norms/weight_standardization.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("linear layer: parameters and values") {
  Parameters parameters(1);
  const Linear plain(parameters, "plain", {.input = 3, .output = 4});
  const Linear bare(parameters, "bare", {.input = 3, .output = 4, .bias = false});
  const Linear normed(parameters, "normed", {.input = 3, .output = 4, .weights = Norm::weight});
  std::string names;
  for (const auto& entry : parameters.learned()) names += entry.name + text(entry.value.shape()) + " ";
  CHECK(names ==
        "plain.weight[3 x 4] plain.bias[4] bare.weight[3 x 4] normed.direction[3 x 4] normed.gain[4] "
        "normed.bias[4] ");
  CHECK(!bare.bias.defined());
  CHECK(!plain.gain.defined());
  CHECK(identical(plain.bias, Tensor::zeros({4})));

  const Tensor x = sample({2, 3}, 1);
  CHECK(identical(plain(x), linear(x, plain.weight, plain.bias)));
  CHECK(identical(bare(x), linear(x, bare.weight, Tensor())));
  // Weight norm starts as the plain layer of the same initial values.
  CHECK(difference(weight_norm(normed.weight, normed.gain), normed.weight) < 4 * ulp);
  CHECK(difference(normed(x), matmul(x, normed.weight)) < 8 * ulp);
}

TEST_CASE("linear layer: gradients with every option") {
  const bool both[] = {false, true};
  for (const bool bias : both)
    for (const Norm norm : {Norm::none, Norm::weight, Norm::standardized})
      for (const Shape& shape : {Shape{1, 1}, Shape{3, 5}, Shape{2, 3, 4}}) {
        Parameters parameters(1);
        const Linear layer(parameters, "layer",
                           {.input = shape.columns(), .output = 3, .bias = bias, .weights = norm});
        parameters.values();  // gradients in the flat buffer
        std::vector<Tensor> inputs{sample(shape, 1)};
        for (const auto& entry : parameters.learned()) inputs.push_back(entry.value);
        check_gradients(inputs, [&] { return weighted(layer(inputs[0])); });
      }
}

TEST_CASE("linear layer: standardized weights start as the plain layer's, without their means") {
  Parameters parameters(1);
  const Linear plain(parameters, "plain", {.input = 30, .output = 4});
  const Linear layer(parameters, "layer", {.input = 30, .output = 4, .weights = Norm::standardized});
  std::string names;
  for (const auto& entry : parameters.learned()) names += entry.name + text(entry.value.shape()) + " ";
  CHECK(names == "plain.weight[30 x 4] plain.bias[4] layer.raw_weight[30 x 4] layer.gain[4] layer.bias[4] ");
  const Tensor x = sample({2, 30}, 1);
  CHECK(difference(layer.effective_weight(), layer.weight - mean_rows(layer.weight)) < 1e-6 + 16 * ulp);
  CHECK(identical(layer(x), linear(x, weight_standardization(layer.weight, layer.gain), layer.bias)));
  CHECK(identical(plain(x), linear(x, plain.effective_weight(), plain.bias)));
  CHECK_ERROR(Linear(parameters, "other", {.input = 3, .output = 4, .weights = Norm::batch}),
              "the weights of linear 'other': norm is batch; choose none, weight or weight-standardized");
}

TEST_CASE("linear and convolutional layers: take every norm of the weights that the table has") {
  for (const NormEntry& entry : norm_table) {
    CAPTURE(entry.name);
    CHECK(weights_of(entry.norm) == (entry.weights ? entry.norm : Norm::none));
    Parameters parameters(1);
    const Norm weights = weights_of(entry.norm);
    CHECK(Linear(parameters, "linear", {.input = 3, .output = 4, .weights = weights}).gain.defined() ==
          entry.weights);
    if (entry.maps)
      CHECK(Conv2d(parameters, "conv2d", {.input = 3, .output = 4, .weights = weights}).gain.defined() ==
            entry.weights);
  }
  Parameters parameters(1);
  CHECK_ERROR(Conv2d(parameters, "conv1", {.input = 3, .output = 4, .weights = Norm::weight}),
              "the weights of conv2d 'conv1': norm is weight; choose none or weight-standardized");
}

TEST_CASE("linear layer: a size of zero is refused") {
  Parameters parameters(1);
  CHECK_ERROR(Linear(parameters, "first", {.input = 3}),
              "linear 'first': 3 inputs and 0 outputs; both must be positive");
  CHECK_ERROR(Linear(parameters, "first", {.output = 3}),
              "linear 'first': 0 inputs and 3 outputs; both must be positive");
}

TEST_CASE("linear layer: one that is refused leaves no parameters behind") {
  Parameters parameters(1);
  CHECK_THROWS_AS(
      Linear(parameters, "layer", {.input = 3, .output = 4, .weights = Norm::weight, .initial = constant(0)}),
      Error);
  CHECK(parameters.learned().empty());
  CHECK_NOTHROW(Linear(parameters, "layer", {.input = 3, .output = 4, .weights = Norm::weight}));
}
