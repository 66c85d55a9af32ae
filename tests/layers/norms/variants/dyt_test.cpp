// Dynamic tanh: values, gradients, twin, edges.

#include "layers/norms/variants/dyt.h"

#include "tests/fixtures/torch_dyt_fixtures.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

const Layer fused = [](const std::vector<Tensor>& in) { return dyt(in[0], in[1], in[2], in[3]); };
const Layer twin = [](const std::vector<Tensor>& in) { return composed::dyt(in[0], in[1], in[2], in[3]); };

std::vector<Tensor> inputs(const Shape& shape) {
  const Shape row{shape.columns()};
  return {sample(shape, 1, -2, 2), sample({1}, 4, 0.4, 0.9), sample(row, 2, 0.5, 1.5), sample(row, 3)};
}

}  // namespace

TEST_CASE("DyT: an example by hand") {
  const Tensor a = Tensor::from({2, 2}, {0, 1, -2, 4}), alpha = Tensor::from({1}, {real(0.5)});
  const Tensor y = dyt(a, alpha, Tensor::from({2}, {2, -1}), Tensor::from({2}, {1, 10}));
  CHECK(difference(y, {1, 10 - std::tanh(0.5), 1 - 2 * std::tanh(1.0), 10 - std::tanh(2.0)}) < 4 * ulp);
}

TEST_CASE("DyT: gradients") {
  std::vector<Shape> shapes = odd_shapes;
  shapes.insert(shapes.end(), {Shape{5}, Shape{2, 3, 4}, Shape{1, 64}, Shape{2, 65}});
  for (const Shape& shape : shapes) {
    CAPTURE(text(shape));
    const auto in = inputs(shape);
    check_gradients(in, [&] { return weighted(fused(in)); });
    check_gradients(in, [&] { return weighted(twin(in)); });
  }
}

TEST_CASE("DyT: gradients add to what is there") {
  const auto in = inputs({3, 7});
  check_gradients(in, [&] { return weighted(fused(in)) + weighted(tanh(in[0]) * in[1] * in[2] + in[3]); });
}

TEST_CASE("DyT: each input alone may need its gradient") { check_each_alone(fused, inputs({3, 7})); }

TEST_CASE("DyT: fused equals composed") {
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 2}, Shape{3, 5}, Shape{7, 17}, Shape{2, 33},
                             Shape{64, 257}, Shape{300, 100}, Shape{2, 3, 40}})
    check_twins(fused, twin, inputs(shape), twin_tolerance(128));
}

TEST_CASE("DyT: PyTorch's values and derivatives") {
  const auto given = [](const Shape& shape, const std::vector<double>& numbers) {
    const std::vector<real> values(numbers.begin(), numbers.end());
    return Tensor::from(shape, values).require_gradient();
  };
  const std::vector<Tensor> in{given({4, 6}, torch_dyt::x), given({1}, torch_dyt::alpha),
                               given({6}, torch_dyt::gain), given({6}, torch_dyt::bias)};
  Tape tape;
  const Tensor y = fused(in);
  CHECK(difference(y, given({4, 6}, torch_dyt::y)) < 1e-11 + 16 * ulp);
  tape.backward(sum(square(y)));
  const std::vector<double> derivatives[] = {torch_dyt::y_dx, torch_dyt::y_dalpha, torch_dyt::y_dgain,
                                             torch_dyt::y_dbias};
  for (size_t i = 0; i < in.size(); ++i)
    CHECK(difference(in[i].gradient(), given(in[i].shape(), derivatives[i])) < 1e-11 + 64 * ulp);
}

TEST_CASE("DyT: one and two threads agree") { check_threads(fused, inputs({300, 257}), 64 * ulp); }

TEST_CASE("DyT: no rows; NaN stays where it is; infinities saturate") {
  const Tensor half = Tensor::full({1}, real(0.5)), one = Tensor::ones({3}), zero = Tensor::zeros({3});
  CHECK(dyt(Tensor({0, 3}), half, one, zero).shape() == Shape{0, 3});
  Tensor x = sample({2, 3}, 1);
  x[4] = std::numeric_limits<real>::quiet_NaN();
  const Tensor y = dyt(x, half, one, zero);
  for (size_t i = 0; i < 6; ++i) CHECK(std::isnan(y[i]) == (i == 4));

  constexpr real infinity = std::numeric_limits<real>::infinity();
  const std::vector<Tensor> in{Tensor::from({1, 3}, {infinity, -infinity, real(3e38)}), half, one, zero};
  const auto results = value_and_gradients(fused, in);
  CHECK(difference(results[0], {1, -1, 1}) == 0);
  CHECK(difference(results[1], {0, 0, 0}) == 0);
  CHECK(difference(results[2], {0}) == 0);
}

TEST_CASE("DyT: the derivative for alpha over 100,000 rows is as accurate as over few") {
  constexpr size_t rows = 100000, columns = 5;
  const Tensor a = sample({rows, columns}, 1, 0.5, 1), dy = sample({rows, columns}, 2, 0, 1);
  Tensor alpha = Tensor::full({1}, real(0.5)).require_gradient();
  set_threads(1);
  Tape tape;
  tape.backward(dyt(a, alpha, Tensor::ones({columns}), Tensor::zeros({columns})), dy);
  set_threads(0);
  long double exact = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<long double>(a[i]), t = std::tanh(x / 2);
    exact += static_cast<long double>(dy[i]) * (1 - t * t) * x;
  }
  const auto error = static_cast<long double>(alpha.gradient()[0]) / exact - 1;
  CHECK(static_cast<double>(std::fabs(error)) < 16 * ulp);
}

TEST_CASE("DyT: the layer") {
  Parameters parameters(1);
  const DyT layer(parameters, "dyt", {.features = 5, .gain = real(0.1)});
  const Tensor x = sample({3, 5}, 1);
  std::string names;
  for (const auto& entry : parameters.learned()) names += entry.name + text(entry.value.shape()) + " ";
  CHECK(names == "dyt.alpha[1] dyt.gain[5] dyt.bias[5] ");
  CHECK(identical(layer.alpha, Tensor::full({1}, real(0.5))));
  CHECK(identical(layer(x), dyt(x, layer.alpha, Tensor::full({5}, real(0.1)), Tensor::zeros({5}))));
}

TEST_CASE("DyT: errors name the op and the shapes") {
  const Tensor a({2, 3}), one({1}), two({2}), three({3});
  CHECK_ERROR(dyt(a, one, two, three), "dyt: the gain is [2], the input [2 x 3]; it must be [3]");
  CHECK_ERROR(dyt(a, one, three, Tensor({1, 3})),
              "dyt: the bias is [1 x 3], the input [2 x 3]; it must be [3]");
  CHECK_ERROR(dyt(a, three, three, three), "dyt: alpha is [3]; it must be [1]");
  CHECK_ERROR(dyt(Tensor({2, 0}), one, three, three), "dyt: [2 x 0] has no features in its last axis");
}
