// Weight norm: values, gradients, twins.

#include <tuple>

#include "layers/norms/weight_norm.h"

#include "layers/linear.h"
#include "layers/recurrent/recurrent.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

const Layer fused = [](const std::vector<Tensor>& in) { return weight_norm(in[0], in[1]); };
const Layer twin = [](const std::vector<Tensor>& in) { return composed::weight_norm(in[0], in[1]); };

std::vector<Tensor> inputs(const Shape& shape, double low = -1, double high = 1) {
  return {sample(shape, 1, low, high), sample({shape.columns()}, 2, 0.5, 1.5)};
}

}  // namespace

TEST_CASE("weight norm: a 2 x 2 example by hand") {
  const Tensor v = Tensor::from({2, 2}, {3, 5, 4, 12}), gain = Tensor::from({2}, {10, -13});
  CHECK(difference(column_norms(v), {5, 13}) < ulp);
  CHECK(difference(weight_norm(v, gain), {6, -5, 8, -12}) < ulp);
}

TEST_CASE("weight norm: gradients") {
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 1}, Shape{3, 5}, Shape{7, 17}, Shape{2, 33}}) {
    CAPTURE(text(shape));
    const auto in = inputs(shape, 0.2, 1);
    check_gradients(in, [&] { return weighted(fused(in)); });
    check_gradients(in, [&] { return weighted(twin(in)); });
    check_gradients(in, [&] { return weighted(fused(in)) + weighted(in[0] * in[1]); });
    check_gradients({in[0]}, [&] { return weighted(weight_norm(in[0], in[1].detach())); });
    check_gradients({in[1]}, [&] { return weighted(weight_norm(in[0].detach(), in[1])); });
  }
}

TEST_CASE("weight norm: no gradient along the weight vector itself") {
  const auto results = value_and_gradients(fused, inputs({40, 7}));
  const Tensor v = sample({40, 7}, 1);
  CHECK(difference(sum_rows(v * results[1]), {0, 0, 0, 0, 0, 0, 0}) < 64 * ulp);
}

TEST_CASE("weight norm: fused equals composed") {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{3, 5}, Shape{7, 17}, Shape{2, 33}, Shape{300, 257}, Shape{784, 100}})
    check_twins(fused, twin, inputs(shape), twin_tolerance(256));
  check_twins(fused, twin, inputs({100, 50}, 999, 1001), twin_tolerance(256));
}

TEST_CASE("weight norm: one and two threads agree") { check_threads(fused, inputs({300, 257}), 64 * ulp); }

TEST_CASE("weight norm: a vector of zeros gives NaN; errors name the shapes") {
  CHECK(std::isnan(weight_norm(Tensor::zeros({2, 1}), Tensor::ones({1}))[0]));
  CHECK_ERROR(weight_norm(Tensor({2, 3}), Tensor({2})),
              "weight_norm: v is [2 x 3], the gain [2]; one gain a column is needed");
  CHECK_ERROR(weight_norm(Tensor({3}), Tensor({3})),
              "weight_norm: v is [3], the gain [3]; one gain a column is needed");
}

TEST_CASE("weight norm: a layer that never forms its weights equals one that does") {
  const Layer without = [](const std::vector<Tensor>& in) {
    return weight_norm_linear(in[0], in[1], in[2], in[3]);
  };
  const Layer with = [](const std::vector<Tensor>& in) {
    return linear(in[0], composed::weight_norm(in[1], in[2]), in[3]);
  };
  const auto layer_inputs = [](size_t rows, size_t from, size_t to) {
    return std::vector<Tensor>{sample({rows, from}, 3), sample({from, to}, 1), sample({to}, 2, 0.5, 1.5),
                               sample({to}, 4)};
  };
  for (const auto& [rows, from, to] : {std::tuple{1, 1, 1}, {2, 3, 5}, {5, 7, 17}, {3, 2, 33}}) {
    const auto in =
        layer_inputs(static_cast<size_t>(rows), static_cast<size_t>(from), static_cast<size_t>(to));
    check_gradients(in, [&] { return weighted(without(in)); });
    check_gradients(in, [&] { return weighted(without(in)) + weighted(with(in)); });
    check_twins(without, with, in, twin_tolerance(256));
  }
  check_twins(without, with, layer_inputs(64, 300, 257), twin_tolerance(1024));
  const auto in = layer_inputs(2, 3, 4);
  CHECK_ERROR(
      weight_norm_linear(in[0], in[1], Tensor({3}), in[3]),
      "weight_norm_linear: input [2 x 3], v [3 x 4], gain [3], bias [4]; the input's last size must be v's "
      "first, gain and bias have one number per column");
}

TEST_CASE("weight norm: with one input the derivative of the direction is 0, not rounding error") {
  Tensor x = leaf({5, 1}, 1), v = leaf({1, 33}, 2, 0.5, 1.5), gain = leaf({33}, 3), bias = leaf({33}, 4);
  Tape tape;
  tape.backward(weighted(weight_norm_linear(x, v, gain, bias)) + weighted(weight_norm(v, gain)));
  CHECK(identical(v.gradient(), Tensor::zeros({1, 33})));
}

TEST_CASE("weight norm: vectors whose squares leave the range of real") {
  for (const double scale : {1e30, 1e20, 1e-16, 1e-20}) {
    CAPTURE(scale);
    Tensor v = Tensor::from({2, 2}, {3, 5, 4, 12}).require_gradient();
    Tensor gain = Tensor::from({2}, {10, -13}).require_gradient();
    for (real& value : v.values()) value *= static_cast<real>(scale);
    CHECK(difference(column_norms(v) / static_cast<real>(scale), {5, 13}) < 4 * ulp);
    Tape tape;
    const Tensor w = weight_norm(v, gain), y = weight_norm_linear(Tensor::from({1, 2}, {1, 0}), v, gain, {});
    CHECK(difference(w, {6, -5, 8, -12}) < 4 * ulp);
    CHECK(difference(y, {6, -5}) < 4 * ulp);
    tape.backward(sum(w) + sum(y));
    CHECK(difference(gain.gradient(), {2, 22 / 13.0}) < 8 * ulp);
    // dw = (2, 2) and (1, 1) for the columns; dv = s (dw - v (dw . v) / norm^2)
    CHECK(difference(v.gradient() * static_cast<real>(scale),
                     {2 * (2 - 3 * 10 / 25.0), -(2 - 5 * 22 / 169.0), 2 * (1 - 4 * 10 / 25.0),
                      -(1 - 12 * 22 / 169.0)}) < 16 * ulp);
  }
  CHECK(weight_norm(Tensor::full({2, 1}, std::numeric_limits<real>::max()), Tensor::ones({1}))[0] == 0);
}

TEST_CASE("weight norm: a layer whose weights start with a column of zeros is refused") {
  const Initializer zero_column = [](const Shape& shape, const Random&) {
    Tensor weight = Tensor::ones(shape);
    for (size_t r = 0; r < weight.rows(); ++r) weight.at(r, 1) = 0;
    return weight;
  };
  const std::string rest = " starts with zeros, which have no direction; choose another initializer";
  Parameters parameters(1);
  CHECK_ERROR(Linear(parameters, "linear",
                     {.input = 3, .output = 2, .weights = Norm::weight, .initial = zero_column}),
              "weight_norm: column 1 of 'linear.direction' [3 x 2]" + rest);
  CHECK_ERROR(
      Gru(parameters, "gru", {.input = 3, .hidden = 2, .norm = Norm::weight, .hidden_initial = zero_column}),
      "weight_norm: column 1 of 'gru.hidden_weight.direction' [2 x 6]" + rest);
}
