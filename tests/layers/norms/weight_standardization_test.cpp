// Weight standardization: values, gradients, twin, layers.

#include "layers/norms/weight_standardization.h"

#include "layers/conv2d.h"
#include "layers/linear.h"
#include "tests/fixtures/torch_batch_variants_fixtures.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

const Layer fused = [](const std::vector<Tensor>& in) { return weight_standardization(in[0], in[1]); };
const Layer twin = [](const std::vector<Tensor>& in) {
  return composed::weight_standardization(in[0], in[1]);
};

std::vector<Tensor> inputs(const Shape& shape) {
  return {sample(shape, 1), sample({shape.columns()}, 2, 0.5, 1.5)};
}

}  // namespace

TEST_CASE("weight standardization: each unit's weights have mean 0 and variance gain^2 / fan-in") {
  const auto in = inputs({3, 3, 4, 7});
  const Tensor w = fused(in).reshape({36, 7}), means = mean_rows(w), variances = mean_rows(square(w));
  for (size_t j = 0; j < 7; ++j) {
    CHECK(std::fabs(means[j]) < 4 * ulp);
    CHECK(std::fabs(variances[j] * 36 / (in[1][j] * in[1][j]) - 1) < 1e-8 + 16 * ulp);
  }
  // By hand: 1 and 5 have mean 3 and deviation 2.
  const Tensor v = Tensor::from({2, 1}, {1, 5});
  CHECK(difference(weight_standardization(v, Tensor::full({1}, 3)),
                   {-3 / std::sqrt(2.0), 3 / std::sqrt(2.0)}) < 1e-9 + 4 * ulp);
}

TEST_CASE("weight standardization: neither the scale nor the mean of a unit's weights matters") {
  const auto in = inputs({40, 7});
  Tensor other = in[0] * sample({7}, 3, 0.5, 2) + sample({7}, 4);
  CHECK(difference(weight_standardization(other, in[1]), fused(in)) < 1e-9 + 64 * ulp);
  const Tensor dv = value_and_gradients(fused, in)[1], zeros = Tensor::zeros({7});
  CHECK(difference(sum_rows(dv), zeros) < 64 * ulp);
  CHECK(difference(sum_rows(dv * in[0]), zeros) < 1e-8 + 64 * ulp);
}

TEST_CASE("weight standardization: gradients") {
  for (const Shape& shape : {Shape{3, 1}, Shape{3, 5}, Shape{7, 17}, Shape{2, 3, 2, 5}}) {
    CAPTURE(text(shape));
    const auto in = inputs(shape);
    check_gradients(in, [&] { return weighted(fused(in)); });
    check_gradients(in, [&] { return weighted(twin(in)); });
    check_gradients(in, [&] { return weighted(fused(in)) + weighted(in[0] * in[1]); });
  }
}

TEST_CASE("weight standardization: fused equals composed") {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{1, 5}, Shape{3, 5}, Shape{7, 17}, Shape{300, 257}, Shape{5, 5, 3, 33}})
    check_twins(fused, twin, inputs(shape), twin_tolerance(256));
}

TEST_CASE("weight standardization: one and two threads agree") {
  check_threads(fused, inputs({300, 257}), 64 * ulp);
}

TEST_CASE("weight standardization: PyTorch's values and derivatives") {
  namespace torch = torch_batch_variants;
  const auto given = [](const Shape& shape, const std::vector<double>& numbers) {
    const std::vector<real> values(numbers.begin(), numbers.end());
    return Tensor::from(shape, values).require_gradient();
  };
  const std::vector<Tensor> in{given({7, 3}, torch::v), given({3}, torch::gain)};
  Tape tape;
  const Tensor w = fused(in);
  CHECK(difference(w, given({7, 3}, torch::standardized)) < 1e-11 + 16 * ulp);
  tape.backward(sum(square(w)));
  CHECK(difference(in[0].gradient(), given({7, 3}, torch::standardized_dv)) < 1e-11 + 64 * ulp);
  CHECK(difference(in[1].gradient(), given({3}, torch::standardized_dgain)) < 1e-11 + 64 * ulp);
}

TEST_CASE("weight standardization: equal weights, and a single one, become zeros") {
  for (const double level : {1e30, 7.3, 0.0})
    CHECK(identical(weight_standardization(Tensor::full({9, 2}, static_cast<real>(level)), Tensor::ones({2})),
                    Tensor::zeros({9, 2})));
  const auto results = value_and_gradients(fused, inputs({1, 33}));
  CHECK(identical(results[0], Tensor::zeros({1, 33})));
  CHECK(identical(results[1], Tensor::zeros({1, 33})));
}

TEST_CASE("weight standardization: the convolution") {
  Parameters parameters(1);
  const Conv2d layer(parameters, "layer", {.input = 4, .output = 3, .weights = Norm::standardized});
  std::string names;
  for (const auto& entry : parameters.learned()) names += entry.name + text(entry.value.shape()) + " ";
  CHECK(names == "layer.raw_weight[3 x 3 x 4 x 3] layer.gain[3] layer.bias[3] ");
  const Tensor x = sample({2, 5, 5, 4}, 1), flat = layer.weight.reshape({36, 3});
  CHECK(identical(layer(x), conv2d(x, weight_standardization(layer.weight, layer.gain), layer.bias)));
  CHECK(difference(layer.effective_weight().reshape({36, 3}), flat - mean_rows(flat)) < 1e-6 + 16 * ulp);
}

TEST_CASE("weight standardization: a layer's weights start as v - mean, small ones and equal ones too") {
  const auto distance = [](const Initializer& initial) {
    Parameters parameters(1);
    const Linear layer(parameters, "layer",
                       {.input = 9, .output = 3, .weights = Norm::standardized, .initial = initial});
    const Tensor centered = layer.weight - mean_rows(layer.weight);
    CHECK(mean(layer.gain).item() > 0);  // with a gain of 0 neither it nor the weights would ever change
    return difference(layer.effective_weight() * real(1e6), centered * real(1e6));
  };
  CHECK(distance(normal(real(1e-6))) < 64 * ulp);
  CHECK(distance(constant(1)) == 0);
}

TEST_CASE("weight standardization: errors") {
  CHECK_ERROR(weight_standardization(Tensor({2, 3}), Tensor({2})),
              "weight_standardization: v is [2 x 3], the gain [2]; one gain a column is needed");
  CHECK_ERROR(weight_standardization(Tensor({3}), Tensor({3})),
              "weight_standardization: v is [3], the gain [3]; one gain a column is needed");
}
