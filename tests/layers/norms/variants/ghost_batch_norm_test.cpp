// Ghost batch norm: values, gradients, twin, parts, running averages.

#include "layers/norms/variants/ghost_batch_norm.h"

#include "layers/norms/normalization.h"
#include "tests/fixtures/torch_batch_variants_fixtures.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

Layer fused(size_t part, const BatchPassOptions& options = {}) {
  return [=](const std::vector<Tensor>& in) { return ghost_batch_norm(in[0], in[1], in[2], part, options); };
}
Layer twin(size_t part, const BatchPassOptions& options = {}) {
  return [=](const std::vector<Tensor>& in) {
    return composed::ghost_batch_norm(in[0], in[1], in[2], part, options);
  };
}

std::vector<Tensor> inputs(const Shape& shape) {
  const Shape row{shape.columns()};
  return {sample(shape, 1, -2, 2), sample(row, 2, 0.5, 1.5), sample(row, 3)};
}

Tensor given(const Shape& shape, const std::vector<double>& numbers) {
  const std::vector<real> values(numbers.begin(), numbers.end());
  return Tensor::from(shape, values);
}

}  // namespace

TEST_CASE("ghost batch norm: every part is batch norm of its cases") {
  // 11 cases in parts of 3 or more: three parts, of 3, 4 and 4.
  const auto in = inputs({11, 5});
  BatchStatistics statistics;
  const Tensor y = ghost_batch_norm(in[0], in[1], in[2], 3, {}, &statistics);
  REQUIRE(statistics.mean.shape() == Shape{3, 5});
  const size_t edges[] = {0, 3, 7, 11};
  for (size_t p = 0; p < 3; ++p) {
    BatchStatistics own;
    const Tensor part = in[0].slice(edges[p], edges[p + 1]);
    CHECK(identical(y.slice(edges[p], edges[p + 1]), batch_norm(part, in[1], in[2], {}, &own)));
    CHECK(identical(statistics.mean.step(p), own.mean));
    CHECK(identical(statistics.variance.step(p), own.variance));
  }
}

TEST_CASE("ghost batch norm: a batch smaller than two parts is batch norm") {
  const auto in = inputs({11, 5});
  for (const size_t part : {6U, 11U, 100U})
    CHECK(identical(fused(part)(in), batch_norm(in[0], in[1], in[2])));
}

TEST_CASE("ghost batch norm: fused equals composed") {
  for (const Shape& shape : {Shape{6, 1}, Shape{7, 5}, Shape{9, 3, 4}, Shape{64, 257}, Shape{300, 17}})
    for (const size_t part : {3U, 5U, 100U})
      for (const Variance variance : {Variance::biased, Variance::unbiased}) {
        CAPTURE(part);
        const BatchPassOptions options = {.variance = variance, .then = {.relu = true}};
        check_twins(fused(part, options), twin(part, options), inputs(shape), twin_tolerance(256));
      }
  for (const Shape& maps : {Shape{5, 4, 6, 3}, Shape{8, 3, 3, 33}})
    for (const size_t part : {1U, 2U, 100U})
      for (const ReluPool& then : {ReluPool{}, {.relu = true}, {.relu = true, .window = 2}}) {
        CAPTURE(part);
        const BatchPassOptions options = {.then = then};
        check_twins(fused(part, options), twin(part, options), inputs(maps), twin_tolerance(2048));
      }
}

TEST_CASE("ghost batch norm: gradients") {
  for (const Shape& shape : {Shape{7, 1}, Shape{7, 5}, Shape{9, 17}, Shape{6, 2, 2, 3}}) {
    CAPTURE(text(shape));
    const auto in = inputs(shape);
    check_gradients(in, [&] { return weighted(fused(3)(in)); });
    check_gradients(in, [&] { return weighted(fused(3)(in)) + weighted(tanh(in[0]) * in[1]); });
  }
}

TEST_CASE("ghost batch norm: each input alone may need its gradient") {
  check_each_alone(fused(3), inputs({7, 5}));
}

TEST_CASE("ghost batch norm: one and two threads agree") {
  check_threads(fused(100), inputs({300, 257}), 64 * ulp);
  check_threads(fused(2, {.then = {.relu = true}}), inputs({6, 14, 14, 32}), 1000 * ulp);
}

TEST_CASE("ghost batch norm: PyTorch's values and derivatives") {
  namespace torch = torch_batch_variants;
  std::vector<Tensor> in{given({7, 3}, torch::x), given({3}, torch::gain), given({3}, torch::bias)};
  for (Tensor& each : in) each.require_gradient();
  Tape tape;
  const Tensor y = fused(2)(in);
  CHECK(difference(y, given({7, 3}, torch::ghost)) < 1e-10 + 64 * ulp);
  tape.backward(sum(square(y)));
  // Two cases become 1 and -1 whatever they are: derivatives of some epsilon, beside a rounding error of the sum.
  CHECK(difference(in[0].gradient(), given({7, 3}, torch::ghost_dx)) < 1e-9 + 4096 * ulp);
  CHECK(difference(in[1].gradient(), given({3}, torch::ghost_dgain)) < 1e-10 + 64 * ulp);
  CHECK(difference(in[2].gradient(), given({3}, torch::ghost_dbias)) < 1e-10 + 64 * ulp);
}

TEST_CASE("ghost batch norm: the layer's running averages move for each part; a NaN stays in its unit") {
  Parameters parameters(1);
  BatchNorm norm(parameters, "norm", {.features = 1, .epsilon = 0, .momentum = real(0.5), .part = 2});
  // Parts 1, 3 (mean 2, variance 1) and 5, 9 (mean 7, variance 4).
  Tensor a = Tensor::from({4, 1}, {1, 3, 5, 9});
  CHECK(difference(norm(a, Mode::train), {-1, 1, -1, 1}) < 8 * ulp);
  CHECK(difference(norm.running_mean, {0.5 + 3.5}) < 8 * ulp);
  CHECK(difference(norm.running_variance, {0.5 * (0.5 + 0.5) + 2}) < 8 * ulp);
  const Tensor before = norm.running_mean.copy();
  CHECK(difference(norm(a, Mode::evaluate_by_batch), {-1, 1, -1, 1}) < 8 * ulp);
  CHECK(identical(before, norm.running_mean));
  CHECK(difference(norm(a, Mode::evaluate).slice(0, 1), {(1 - 4.0) / std::sqrt(2.5)}) < 8 * ulp);
  a[2] = std::numeric_limits<real>::quiet_NaN();
  const Tensor y = norm(a, Mode::evaluate_by_batch);
  for (size_t i = 0; i < 4; ++i) CHECK(std::isnan(y[i]) == (i >= 2));
}

TEST_CASE("ghost batch norm: equal cases of a part become the bias") {
  const Tensor bias = sample({3}, 3),
               a = concatenate({Tensor::full({4, 3}, real(3e38)), sample({4, 3}, 1)}, 0);
  const Tensor y = ghost_batch_norm(a, Tensor::ones({3}), bias, 4);
  for (size_t i = 0; i < 12; ++i) CHECK(y[i] == bias[i % 3]);
  CHECK(y[12] != bias[0]);
}

TEST_CASE("ghost batch norm: errors") {
  const Tensor a({4, 3}), three({3}), two({2});
  CHECK_ERROR(
      ghost_batch_norm(a, two, two, 2),
      "ghost_batch_norm: input [4 x 3], gain [2], bias [2]; gain and bias must have the input's last size");
  CHECK_ERROR(ghost_batch_norm(a, three, three, 0), "ghost_batch_norm: parts of 0 cases; take at least 2");
  CHECK_ERROR(ghost_batch_norm(Tensor({0, 3}), three, three, 32),
              "ghost_batch_norm: [0 x 3] has 0 cases; at least one is needed");
  Parameters parameters(1);
  BatchNorm norm(parameters, "norm", {.features = 3, .part = 1});
  CHECK_ERROR(
      norm(a, Mode::train),
      "batch_norm 'norm': parts of a single case, which has no variance and would become the bias; take at "
      "least two");
  CHECK_ERROR(BatchNorm(parameters, "other", {.features = 3, .part = 4, .r_max = 3}),
              "batch_norm 'other': parts of 4 cases and renormalization; choose one");
  CHECK_ERROR(
      BatchNorm(parameters, "other", {.features = 3, .momentum = 2}),
      "batch_norm 'other': epsilon is 1e-05 and momentum 2; they must be at least 0, and from 0 to 1");
  CHECK_ERROR(BatchNorm(parameters, "other", {.features = 3, .epsilon = -1}),
              "batch_norm 'other': epsilon is -1 and momentum 0.1; they must be at least 0, and from 0 to 1");
  CHECK_ERROR(Normalization(parameters, "other", {.norm = Norm::ghost, .features = 3, .part = 0}),
              "normalization 'other': parts of 0 cases; take at least 2");
  CHECK_NOTHROW(
      BatchNorm(parameters, "other", {.features = 3, .part = 4}));  // the refused one has left nothing
}
