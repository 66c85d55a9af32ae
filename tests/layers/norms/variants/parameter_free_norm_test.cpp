// LayerNorm-simple, DetachNorm and AdaNorm: values, derivatives, twins, edges.

#include "layers/norms/variants/parameter_free_norm.h"

#include "layers/norms/layer_norm.h"
#include "tests/fixtures/torch_parameter_free_fixtures.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

Layer one_input(Tensor (*norm)(const Tensor&, real)) {
  return [=](const std::vector<Tensor>& in) { return norm(in[0], real(1e-5)); };
}

const Layer simple = one_input(layer_norm_simple), simple_twin = one_input(composed::layer_norm_simple);
const Layer detached = one_input(detach_norm), detached_twin = one_input(composed::detach_norm);
const Layer ada = [](const std::vector<Tensor>& in) { return ada_norm(in[0], real(1.5), real(0.2)); };
const Layer ada_twin = [](const std::vector<Tensor>& in) {
  return composed::ada_norm(in[0], real(1.5), real(0.2));
};

struct Pairing {
  const char* name;
  const Layer &fused, &twin;
};
const Pairing pairings[] = {
    {"simple", simple, simple_twin}, {"detached", detached, detached_twin}, {"ada", ada, ada_twin}};

/// dL/da of the layer for L = sum of dy y.
Tensor passed_back(const Layer& layer, const Tensor& a, const Tensor& dy) {
  Tensor input = a.copy().require_gradient();
  Tape tape;
  tape.backward(layer({input}), dy);
  return input.gradient();
}

/// Of every row, the cosine between x and y.
Tensor cosines(const Tensor& x, const Tensor& y) {
  return sum_columns(x * y) / sqrt(sum_columns(square(x)) * sum_columns(square(y)));
}

double largest_of(const Tensor& x) { return difference(x, Tensor::zeros(x.shape())); }

Tensor expected(const std::vector<double>& numbers, const Shape& shape) {
  Tensor x(shape);
  REQUIRE(x.size() == numbers.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<real>(numbers[i]);
  return x;
}

}  // namespace

TEST_CASE("parameter-free norms: a 2 x 3 example by hand") {
  // Row 1, 2, 6: mean 3, squares 4 + 1 + 9 = 14, variance 14/3. Row 0, 0, 3: mean 1, squares 6, variance 2.
  const Tensor a = Tensor::from({2, 3}, {1, 2, 6, 0, 0, 3});
  const double s = std::sqrt(14.0 / 3), t = std::sqrt(2.0);
  const auto check = [&](const Tensor& y, const auto& value) {
    CHECK(difference(y, {value(-2 / s), value(-1 / s), value(3 / s), value(-1 / t), value(-1 / t),
                         value(2 / t)}) < 4 * ulp);
  };
  check(layer_norm_simple(a, 0), [](double n) { return n; });
  check(detach_norm(a, 0), [](double n) { return n; });
  check(ada_norm(a, 1, real(0.1), 0), [](double n) { return (1 - 0.1 * n) * n; });
  check(ada_norm(a, 2, real(0.25), 0), [](double n) { return 2 * (1 - 0.25 * n) * n; });
}

TEST_CASE("parameter-free norms: LayerNorm-simple's and the twins' gradients") {
  std::vector<Shape> shapes = odd_shapes;
  shapes.insert(shapes.end(), {Shape{5}, Shape{2, 3, 4}, Shape{1, 64}, Shape{2, 65}});
  for (const Shape& shape : shapes) {
    CAPTURE(text(shape));
    const std::vector<Tensor> in{sample(shape, 1, -2, 2)};
    check_gradients(in, [&] { return weighted(simple(in)); });
    check_gradients(in, [&] { return weighted(simple_twin(in)); });
  }
}

TEST_CASE("parameter-free norms: DetachNorm and AdaNorm pass back the gradient of what is not frozen") {
  for (const Shape& shape : {Shape{1, 3}, Shape{3, 5}, Shape{7, 17}, Shape{2, 3, 4}, Shape{2, 65}}) {
    CAPTURE(text(shape));
    const Tensor a = sample(shape, 1, -2, 2), dy = sample(shape, 2);
    // The functions of x in which what is constant in the backward pass has its value at a.
    const Tensor mean = mean_columns(a), deviation = sqrt(mean_columns(square(a - mean)) + real(1e-5));
    const Tensor factor = (real(1) - real(0.2) * layer_norm_simple(a)) * real(1.5);
    const Layer frozen_statistics = [=](const std::vector<Tensor>& in) { return (in[0] - mean) / deviation; };
    const Layer frozen_factor = [=](const std::vector<Tensor>& in) { return factor * simple_twin(in); };
    const std::vector<Tensor> in{a};
    check_gradients(in, [&] { return sum(frozen_statistics(in) * dy); });
    check_gradients(in, [&] { return sum(frozen_factor(in) * dy); });
    CHECK(difference(passed_back(detached, a, dy), passed_back(frozen_statistics, a, dy)) <
          twin_tolerance(128));
    CHECK(difference(passed_back(ada, a, dy), passed_back(frozen_factor, a, dy)) < twin_tolerance(128));
    // And not that of the whole function.
    CHECK(difference(passed_back(detached, a, dy), passed_back(simple, a, dy)) > 0.01);
  }
}

TEST_CASE("parameter-free norms: fused equals composed") {
  for (const auto& [name, fused, twin] : pairings)
    for (const Shape& shape : {Shape{1, 1}, Shape{1, 2}, Shape{3, 5}, Shape{7, 17}, Shape{2, 33},
                               Shape{64, 257}, Shape{300, 100}, Shape{2, 3, 40}}) {
      const std::string called = name;
      CAPTURE(called);
      check_twins(fused, twin, {sample(shape, 1, -2, 2)}, twin_tolerance(128));
    }
}

TEST_CASE("parameter-free norms: one and two threads agree") {
  for (const auto& [name, fused, twin] : pairings) {
    const std::string called = name;
    CAPTURE(called);
    check_threads(fused, {sample({300, 257}, 1, -2, 2)}, 0);
  }
}

TEST_CASE("parameter-free norms: gradients add to what is there") {
  const Tensor a = sample({3, 7}, 1, -2, 2);
  for (const auto& [name, fused, twin] : pairings) {
    const std::string called = name;
    CAPTURE(called);
    const auto with_more = [](const Layer& layer) -> Layer {
      return [=](const std::vector<Tensor>& in) { return layer(in) + tanh(in[0]); };
    };
    check_twins(with_more(fused), with_more(twin), {a}, twin_tolerance(128));
  }
}

TEST_CASE("parameter-free norms: the values are layer norm's without gain and bias") {
  const Tensor a = sample({30, 70}, 1, -2, 2), one = Tensor::ones({70}), zero = Tensor::zeros({70});
  CHECK(identical(layer_norm_simple(a), layer_norm(a, one, zero)));
  CHECK(identical(detach_norm(a), layer_norm(a, one, zero)));
  CHECK(difference(ada_norm(a, 1, 0), layer_norm(a, one, zero)) <= 2 * ulp);
}

TEST_CASE("layer norm passes back nothing along 1 and along the centred input; DetachNorm does") {
  constexpr size_t rows = 20, columns = 64;
  const Tensor a = sample({rows, columns}, 1, -2, 5), one = Tensor::ones({rows, columns});
  const Tensor centered = a - mean_columns(a), dy = sample({rows, columns}, 2, -1, 2) + centered;
  const double rounding = sizeof(real) == 8 ? 1e-4 : 1e-3;  // epsilon leaves some of the centred input
  const Layer layer = [](const std::vector<Tensor>& in) {
    return layer_norm(in[0], Tensor::ones({columns}), Tensor::zeros({columns}));
  };
  for (const Layer* const orthogonal : {&layer, &simple, &ada}) {
    const Tensor da = passed_back(*orthogonal, a, dy);
    CHECK(largest_of(cosines(da, one)) < rounding);
    CHECK(largest_of(cosines(da, centered)) < rounding);
  }
  const Tensor da = passed_back(detached, a, dy);
  CHECK(min(cosines(da, one), 0).item() > 0.1);
  CHECK(min(cosines(da, centered), 0).item() > 0.5);
}

TEST_CASE("parameter-free norms: PyTorch's values and derivatives") {
  namespace torch = torch_parameter_free;
  const Shape shape{4, 6};
  const Tensor x = expected(torch::x, shape);
  const auto check = [&](const Layer& layer, const std::vector<double>& value,
                         const std::vector<double>& dx) {
    Tensor input = x.copy().require_gradient();
    Tape tape;
    const Tensor y = layer({input});
    CHECK(difference(y, expected(value, shape)) < 1e-11 + 16 * ulp);
    tape.backward(sum(square(y)));
    CHECK(difference(input.gradient(), expected(dx, shape)) < 1e-11 + 64 * ulp);
  };
  check(simple, torch::simple, torch::simple_dx);
  check(detached, torch::detached, torch::detached_dx);
  check(ada, torch::ada, torch::ada_dx);
}

TEST_CASE("parameter-free norms: no rows; NaN stays in its row") {
  for (const auto& [name, fused, twin] : pairings) {
    const std::string called = name;
    CAPTURE(called);
    CHECK(fused({Tensor({0, 3})}).shape() == Shape{0, 3});
    Tensor x = sample({2, 3}, 1);
    x[4] = std::numeric_limits<real>::quiet_NaN();
    const Tensor y = fused({x}), dx = passed_back(fused, x, Tensor::ones({2, 3}));
    for (size_t i = 0; i < 6; ++i) {
      CHECK(std::isnan(y[i]) == (i >= 3));
      CHECK(std::isnan(dx[i]) == (i >= 3));
    }
    CHECK(std::isnan(fused({Tensor::from({1, 2}, {std::numeric_limits<real>::infinity(), 1})})[1]));
  }
}

TEST_CASE("parameter-free norms: constant rows become zeros at any size, a single unit too") {
  for (const auto& [name, fused, twin] : pairings) {
    const std::string called = name;
    CAPTURE(called);
    for (const double level : {3e38, -3e38, 1e30, 33333.3, 7.3, 1e-30}) {
      const Tensor a = Tensor::full({2, 47}, static_cast<real>(level)), dy = sample({2, 47}, 2);
      CHECK(identical(fused({a}), Tensor::zeros({2, 47})));
      const Tensor da = passed_back(fused, a, dy);
      CHECK(std::isfinite(static_cast<double>(sum(da).item())));
    }
    CHECK(identical(fused({sample({9, 1}, 1)}), Tensor::zeros({9, 1})));
  }
  const Tensor a = sample({1000, 1}, 1), dy = sample({1000, 1}, 2);
  CHECK(identical(passed_back(simple, a, dy), Tensor::zeros({1000, 1})));
  CHECK(identical(passed_back(ada, a, dy), Tensor::zeros({1000, 1})));
  CHECK(difference(passed_back(detached, a, dy), dy / std::sqrt(real(1e-5))) < 4 * ulp);
}

TEST_CASE("parameter-free norms: rows whose squares overflow are normalized") {
  for (const double scale : {1e18, 1e20, 1e30, 1e37}) {
    CAPTURE(scale);
    Tensor row = Tensor::from({1, 4}, {-1, 1, -1, 1});
    for (real& value : row.values()) value *= static_cast<real>(scale);
    CHECK(difference(layer_norm_simple(row), {-1, 1, -1, 1}) < 8 * ulp);
    CHECK(difference(detach_norm(row), {-1, 1, -1, 1}) < 8 * ulp);
    CHECK(difference(ada_norm(row), {-1.1, 0.9, -1.1, 0.9}) < 8 * ulp);
  }
}

TEST_CASE("parameter-free norms: the layers, and their errors") {
  const ParameterFreeNorm plain("plain", {.features = 5});
  const ParameterFreeNorm frozen("frozen", {.features = 5, .norm = Norm::detached, .epsilon = real(0.5)});
  const ParameterFreeNorm adaptive("adaptive", {.features = 5, .norm = Norm::ada, .scale = 2});
  const Tensor x = sample({3, 5}, 1);
  CHECK(identical(plain(x), layer_norm_simple(x)));
  CHECK(identical(frozen(x), detach_norm(x, real(0.5))));
  CHECK(identical(adaptive(x), ada_norm(x, 2)));
  const Tensor narrow = sample({4, 3}, 1);
  CHECK_ERROR(plain(narrow), "layer_norm_simple 'plain': the input is [4 x 3]; rows of 5 are needed");
  CHECK_ERROR(frozen(narrow), "detach_norm 'frozen': the input is [4 x 3]; rows of 5 are needed");
  CHECK_ERROR(adaptive(narrow), "ada_norm 'adaptive': the input is [4 x 3]; rows of 5 are needed");
  CHECK_ERROR(ParameterFreeNorm("other", {.features = 5, .norm = Norm::layer}),
              "normalization 'other': norm is layer; choose layer-simple, detached or ada");
  CHECK_ERROR(layer_norm_simple(Tensor({2, 0})),
              "layer_norm_simple: [2 x 0] has no features in its last axis");
  CHECK_ERROR(detach_norm(Tensor(Shape{})), "detach_norm: [scalar] has no features in its last axis");
  CHECK_ERROR(ada_norm(Tensor({2, 0})), "ada_norm: [2 x 0] has no features in its last axis");
}
