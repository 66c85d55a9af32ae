// Layer norm and RMS norm: values, gradients, twins, precision.

#include "layers/norms/layer_norm.h"

#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

const Layer fused = [](const std::vector<Tensor>& in) { return layer_norm(in[0], in[1], in[2]); };
const Layer twin = [](const std::vector<Tensor>& in) { return composed::layer_norm(in[0], in[1], in[2]); };
const Layer fused_rms = [](const std::vector<Tensor>& in) { return rms_norm(in[0], in[1]); };
const Layer twin_rms = [](const std::vector<Tensor>& in) { return composed::rms_norm(in[0], in[1]); };

std::vector<Tensor> inputs(const Shape& shape, double low = -2, double high = 2) {
  const Shape row{shape.columns()};
  return {sample(shape, 1, low, high), sample(row, 2, 0.5, 1.5), sample(row, 3)};
}

std::vector<Tensor> first_two(std::vector<Tensor> all) {
  all.pop_back();
  return all;
}

}  // namespace

TEST_CASE("layer norm: a 2 x 3 example by hand") {
  // Row 1, 2, 6: mean 3, squares 4 + 1 + 9 = 14, variance 14/3. Row 0, 0, 3: mean 1, squares 6, variance 2.
  const Tensor a = Tensor::from({2, 3}, {1, 2, 6, 0, 0, 3});
  const Tensor gain = Tensor::from({3}, {1, 2, -1}), bias = Tensor::from({3}, {0, 10, 0});
  const double s = std::sqrt(14.0 / 3), t = std::sqrt(2.0);
  CHECK(difference(layer_norm(a, gain, bias, 0), {-2 / s, 10 - 2 / s, -3 / s, -1 / t, 10 - 2 / t, -2 / t}) <
        4 * ulp);
  const double u = std::sqrt(14.0 / 3 + 0.5);
  CHECK(difference(layer_norm(a, gain, bias, real(0.5)).slice(0, 1).reshape({3}),
                   {-2 / u, 10 - 2 / u, -3 / u}) < 4 * ulp);
}

TEST_CASE("rms norm: a 2 x 3 example by hand") {
  // Row 1, 2, 2: mean square 3. Row 0, 0, 3: mean square 3.
  const Tensor a = Tensor::from({2, 3}, {1, 2, 2, 0, 0, 3}), gain = Tensor::from({3}, {1, 2, -1});
  const double s = std::sqrt(3.0);
  CHECK(difference(rms_norm(a, gain, 0), {1 / s, 4 / s, -2 / s, 0, 0, -3 / s}) < 4 * ulp);
}

TEST_CASE("layer norm and rms norm: gradients") {
  std::vector<Shape> shapes = odd_shapes;
  shapes.insert(shapes.end(), {Shape{5}, Shape{2, 3, 4}, Shape{1, 64}, Shape{2, 65}});
  for (const Shape& shape : shapes) {
    CAPTURE(text(shape));
    const auto in = inputs(shape);
    check_gradients(in, [&] { return weighted(fused(in)); });
    check_gradients(in, [&] { return weighted(twin(in)); });
    check_gradients(first_two(in), [&] { return weighted(fused_rms(in)); });
    check_gradients(first_two(in), [&] { return weighted(twin_rms(in)); });
  }
}

TEST_CASE("layer norm: gradients add to what is there") {
  const auto in = inputs({3, 7});
  check_gradients(in, [&] { return weighted(fused(in)) + weighted(tanh(in[0]) * in[1] + in[2]); });
}

TEST_CASE("layer norm: each input alone may need its gradient") { check_each_alone(fused, inputs({3, 7})); }

TEST_CASE("layer norm and rms norm: fused equals composed") {
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 2}, Shape{3, 5}, Shape{7, 17}, Shape{2, 33},
                             Shape{64, 257}, Shape{300, 100}, Shape{2, 3, 40}}) {
    check_twins(fused, twin, inputs(shape), twin_tolerance(128));
    check_twins(fused_rms, twin_rms, first_two(inputs(shape)), twin_tolerance(128));
  }
}

TEST_CASE("layer norm: one and two threads agree") {
  check_threads(fused, inputs({300, 257}), 64 * ulp);
  check_threads(fused_rms, first_two(inputs({300, 257})), 64 * ulp);
}

TEST_CASE("layer norm: inputs far from zero keep their precision") {
  // mean 1000, deviation 0.6: the numbers themselves are only known to 3e-5 in float, relative to the
  // deviation 5e-5.
  const auto in = inputs({16, 400}, 999, 1001);
  check_twins(fused, twin, in, sizeof(real) == 8 ? 1e-10 : 2000 * ulp);
  const Tensor y = layer_norm(in[0], Tensor::ones({400}), Tensor::zeros({400}));
  double worst = 0;
  for (size_t r = 0; r < 16; ++r) {
    long double mean = 0, square_sum = 0;
    for (size_t c = 0; c < 400; ++c) mean += static_cast<long double>(in[0][r * 400 + c]) / 400;
    for (size_t c = 0; c < 400; ++c)
      square_sum += std::pow(static_cast<long double>(in[0][r * 400 + c]) - mean, 2);
    const long double deviation = std::sqrt(square_sum / 400 + static_cast<long double>(real(1e-5)));
    for (size_t c = 0; c < 400; ++c) {
      const long double exact = (static_cast<long double>(in[0][r * 400 + c]) - mean) / deviation;
      worst =
          std::max(worst, static_cast<double>(std::fabs(static_cast<long double>(y[r * 400 + c]) - exact)));
    }
  }
  CHECK(worst < 4000 * ulp);
}

TEST_CASE("layer norm: the layers' parameters, and equality with the functions") {
  Parameters parameters(1);
  const LayerNorm norm(parameters, "norm", {.features = 5, .gain = real(0.1)});
  const RmsNorm rms(parameters, "rms", {.features = 5});
  CHECK(parameters.learned()[0].name == "norm.gain");
  CHECK(parameters.learned()[1].name == "norm.bias");
  CHECK(parameters.learned()[2].name == "rms.gain");
  CHECK(identical(norm.gain, Tensor::full({5}, real(0.1))));
  CHECK(identical(norm.bias, Tensor::zeros({5})));
  const Tensor x = sample({3, 5}, 1);
  CHECK(identical(norm(x), layer_norm(x, norm.gain, norm.bias)));
  CHECK(identical(rms(x), rms_norm(x, rms.gain)));
}

TEST_CASE("layer norm: no rows; equal units; NaN stays in its row") {
  CHECK(layer_norm(Tensor({0, 3}), Tensor::ones({3}), Tensor::ones({3})).shape() == Shape{0, 3});
  const Tensor flat = layer_norm(Tensor::full({2, 3}, 7), Tensor::ones({3}), Tensor::full({3}, 5));
  CHECK(difference(flat, {5, 5, 5, 5, 5, 5}) == 0);
  Tensor x = sample({2, 3}, 1);
  x[4] = std::numeric_limits<real>::quiet_NaN();
  const Tensor y = layer_norm(x, Tensor::ones({3}), Tensor::zeros({3}));
  for (size_t i = 0; i < 6; ++i) CHECK(std::isnan(y[i]) == (i >= 3));
}

TEST_CASE("layer norm: errors name the op and the shapes") {
  const Tensor a({2, 3}), three({3}), two({2});
  CHECK_ERROR(layer_norm(a, two, three), "layer_norm: the gain is [2], the input [2 x 3]; it must be [3]");
  CHECK_ERROR(layer_norm(a, three, Tensor({1, 3})),
              "layer_norm: the bias is [1 x 3], the input [2 x 3]; it must be [3]");
  CHECK_ERROR(layer_norm(Tensor({2, 0}), three, three),
              "layer_norm: [2 x 0] has no features in its last axis");
  CHECK_ERROR(rms_norm(a, two), "rms_norm: the gain is [2], the input [2 x 3]; it must be [3]");
  CHECK_ERROR(rms_norm(Tensor(Shape{}), Tensor(Shape{})),
              "rms_norm: [scalar] has no features in its last axis");
}

TEST_CASE("layer norm: a constant row becomes the bias, at any size") {
  for (const double level : {3e38, -3e38, 1e30, 7.3, 1e-30}) {
    Tensor a = Tensor::full({2, 100}, static_cast<real>(level)).require_gradient();
    const Tensor bias = sample({100}, 3);
    Tape tape;
    const Tensor y = layer_norm(a, Tensor::ones({100}), bias);
    for (size_t i = 0; i < y.size(); ++i) CHECK(std::fabs(y[i] - bias[i % 100]) < real(0.01));
    if (level > 1e29 || level < -1e29) CHECK(identical(y.reshape({200}).slice(0, 100), bias));
    tape.backward(weighted(y));
    CHECK(std::isfinite(static_cast<double>(sum(a.gradient()).item())));
  }
}

TEST_CASE("layer norm: rows whose squares overflow are normalized") {
  for (const double scale : {1e18, 1e20, 1e30, 1e37}) {
    CAPTURE(scale);
    Tensor row = Tensor::from({1, 4}, {-1, 1, -1, 1});
    for (real& value : row.values()) value *= static_cast<real>(scale);
    CHECK(difference(layer_norm(row, Tensor::ones({4}), Tensor::zeros({4})), {-1, 1, -1, 1}) < 8 * ulp);
    CHECK(difference(rms_norm(row, Tensor::ones({4})), {-1, 1, -1, 1}) < 8 * ulp);
  }
  const Tensor broken = Tensor::from({1, 2}, {std::numeric_limits<real>::infinity(), 1});
  CHECK(std::isnan(layer_norm(broken, Tensor::ones({2}), Tensor::zeros({2}))[1]));
}

TEST_CASE("layer norm: the derivative of a single unit is 0, not rounding error") {
  Tensor a = sample({1000, 1}, 1).require_gradient();
  Tape tape;
  tape.backward(layer_norm(a, Tensor::full({1}, real(0.7)), Tensor::zeros({1})), sample({1000, 1}, 2));
  CHECK(identical(a.gradient(), Tensor::zeros({1000, 1})));
}

TEST_CASE("layer norm: gain and bias derivatives over 100,000 rows are as accurate as over few") {
  constexpr size_t rows = 100000, columns = 5;
  const Tensor a = sample({rows, columns}, 1), dy = sample({rows, columns}, 2, 0, 1);
  Tensor bias = Tensor::zeros({columns}).require_gradient();
  set_threads(1);
  Tape tape;
  tape.backward(layer_norm(a, Tensor::ones({columns}), bias), dy);
  set_threads(0);
  for (size_t c = 0; c < columns; ++c) {
    long double exact = 0;
    for (size_t r = 0; r < rows; ++r) exact += static_cast<long double>(dy[r * columns + c]);
    const auto error = static_cast<long double>(bias.gradient()[c]) / exact - 1;
    CHECK(static_cast<double>(std::fabs(error)) < 12 * ulp);
  }
}

TEST_CASE("layer norm: units that are equal, far from zero and awkward, differ by nothing") {
  const size_t units = 513;
  for (const double value : {0.1, -84.3, 100.7, 33333.3}) {
    CAPTURE(value);
    Tensor gain = leaf({units}, 2), bias = leaf({units}, 3);
    Tape tape;
    const Tensor y = layer_norm(Tensor::full({1, units}, static_cast<real>(value)), gain, bias);
    CHECK(identical(y.reshape({units}), bias));
    tape.backward(weighted(y));
    CHECK(identical(gain.gradient(), Tensor::zeros({units})));
  }
}

TEST_CASE("layer norm: the composed twin keeps the rounding of the mean from constant rows") {
  const Tensor gain = sample({47}, 1), bias = sample({47}, 2);
  const Tensor a = matmul(sample({30, 1}, 3, 1, 60), Tensor::ones({1, 47}));
  CHECK(difference(composed::layer_norm(a, gain, bias), layer_norm(a, gain, bias)) < ulp);
}
