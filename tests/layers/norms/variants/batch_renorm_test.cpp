// Batch renormalization: values, derivatives with r and d frozen, twin, limits.

#include "layers/norms/variants/batch_renorm.h"

#include "core/distributed/batch_part.h"
#include "layers/norms/batch_norm.h"
#include "tests/core/distributed/rank_threads.h"
#include "tests/fixtures/torch_batch_variants_fixtures.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

BatchStatistics running_of(size_t features) {
  return {sample({features}, 5, -0.5, 0.5), sample({features}, 6, 0.1, 3)};
}

Layer fused(const RenormLimits& limits, const BatchPassOptions& options = {}) {
  return [=](const std::vector<Tensor>& in) {
    return batch_renorm(in[0], in[1], in[2], running_of(in[1].size()), limits, options);
  };
}
Layer twin(const RenormLimits& limits, const BatchPassOptions& options = {}) {
  return [=](const std::vector<Tensor>& in) {
    return composed::batch_renorm(in[0], in[1], in[2], running_of(in[1].size()), limits, options);
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

const RenormLimits tight = {.r_max = real(1.25), .d_max = real(0.25)}, wide = {.r_max = 1000, .d_max = 1000};

}  // namespace

TEST_CASE("batch renorm: without limits it computes what the running averages would") {
  const auto in = inputs({20, 7});
  const BatchStatistics running = running_of(7);
  const Tensor evaluated = (in[0] - running.mean) / sqrt(running.variance + real(1e-5)) * in[1] + in[2];
  CHECK(difference(fused(wide)(in), evaluated) < 64 * ulp);
  CHECK(difference(fused(tight)(in), evaluated) > 0.1);
}

TEST_CASE("batch renorm: with limits of 1 and 0 it is batch norm") {
  const auto in = inputs({20, 7});
  const Layer batch = [](const std::vector<Tensor>& x) { return batch_norm(x[0], x[1], x[2]); };
  check_twins(fused({.r_max = 1, .d_max = 0}), batch, in, 8 * ulp);
}

TEST_CASE("batch renorm: fused equals composed") {
  for (const RenormLimits& limits : {tight, wide})
    for (const Variance variance : {Variance::biased, Variance::unbiased}) {
      BatchPassOptions options = {.variance = variance};
      for (const Shape& shape : {Shape{3, 1}, Shape{7, 5}, Shape{9, 3, 4}, Shape{64, 257}, Shape{300, 17}})
        check_twins(fused(limits, options), twin(limits, options), inputs(shape), twin_tolerance(256));
      for (const ReluPool& then : {ReluPool{}, {.relu = true}, {.relu = true, .window = 2}}) {
        options.then = then;
        for (const Shape& maps : {Shape{5, 4, 6, 3}, Shape{2, 3, 3, 33}})
          check_twins(fused(limits, options), twin(limits, options), inputs(maps), twin_tolerance(2048));
      }
    }
}

TEST_CASE("batch renorm: it passes back the gradient of the function whose r and d are given") {
  for (const RenormLimits& limits : {tight, wide})
    for (const Shape& shape : {Shape{7, 1}, Shape{7, 5}, Shape{9, 17}, Shape{3, 2, 2, 3}}) {
      CAPTURE(text(shape));
      const auto in = inputs(shape);
      const size_t features = shape.columns();
      const Tensor one = Tensor::ones({features}), zero = Tensor::zeros({features});
      // y = n r + d with gain 1 and bias 0: two cases of n tell r and d of a unit.
      const Tensor n = composed::batch_norm(in[0], one, zero), y = fused(limits)({in[0], one, zero});
      Tensor r({features}), d({features});
      for (size_t c = 0; c < features; ++c) {
        r[c] = (y[c] - y[features + c]) / (n[c] - n[features + c]);
        d[c] = y[c] - r[c] * n[c];
      }
      const Layer frozen = [=](const std::vector<Tensor>& x) {
        return (composed::batch_norm(x[0], one, zero) * r + d) * x[1] + x[2];
      };
      check_gradients(in, [&] { return weighted(frozen(in)); });
      check_twins(fused(limits), frozen, in, sizeof(real) == 8 ? 1e-10 : 1e-3);
    }
}

TEST_CASE("batch renorm: one and two threads agree") {
  check_threads(fused(tight), inputs({300, 257}), 64 * ulp);
  check_threads(fused(tight, {.then = {.relu = true, .window = 2}}), inputs({6, 14, 14, 32}), 1000 * ulp);
}

TEST_CASE("batch renorm: PyTorch's values and derivatives") {
  namespace torch = torch_batch_variants;
  std::vector<Tensor> in{given({7, 3}, torch::x), given({3}, torch::gain), given({3}, torch::bias)};
  for (Tensor& each : in) each.require_gradient();
  const BatchStatistics running{given({3}, torch::running_mean), given({3}, torch::running_variance)};
  Tape tape;
  const Tensor y = batch_renorm(in[0], in[1], in[2], running, {.r_max = real(1.5), .d_max = real(0.9)});
  CHECK(difference(y, given({7, 3}, torch::renorm)) < 1e-11 + 16 * ulp);
  tape.backward(sum(square(y)));
  CHECK(difference(in[0].gradient(), given({7, 3}, torch::renorm_dx)) < 1e-11 + 128 * ulp);
  CHECK(difference(in[1].gradient(), given({3}, torch::renorm_dgain)) < 1e-11 + 64 * ulp);
  CHECK(difference(in[2].gradient(), given({3}, torch::renorm_dbias)) < 1e-11 + 64 * ulp);
}

TEST_CASE("batch renorm: the layer corrects with the averages of before, and then moves them") {
  Parameters parameters(1);
  BatchNorm norm(parameters, "norm",
                 {.features = 1, .epsilon = 0, .momentum = real(0.5), .r_max = 100, .d_max = 100});
  const Tensor a = Tensor::from({2, 1}, {1, 3});              // mean 2, variance 1
  CHECK(difference(norm(a, Mode::train), {1, 3}) < 8 * ulp);  // running: 0 and 1
  CHECK(difference(norm.running_mean, {1}) < 8 * ulp);
  CHECK(difference(norm(a, Mode::train), {0, 2}) < 8 * ulp);
  CHECK(difference(norm(a, Mode::evaluate), {-0.5, 1.5}) < 8 * ulp);
  norm.options.r_max = 1;
  norm.options.d_max = 0;
  CHECK(difference(norm(a, Mode::evaluate_by_batch), {-1, 1}) < 8 * ulp);
}

TEST_CASE("batch renorm: ranks that train together have the same averages, of the batches of all") {
  std::vector<Tensor> means(2), variances(2);
  on_ranks(2, [&] {
    const size_t rank = distributed::group().rank();
    Parameters parameters(1);
    BatchNorm norm(parameters, "norm", {.features = 1, .momentum = real(0.5), .r_max = 3, .d_max = 5});
    const distributed::SharedStep step;
    norm(rank == 0 ? Tensor::from({2, 1}, {1, 3}) : Tensor::from({4, 1}, {4, 4, 8, 8}), Mode::train);
    means[rank] = norm.running_mean;
    variances[rank] = norm.running_variance;
  });
  for (const size_t rank : {0U, 1U}) {
    CHECK(difference(means[rank], {real(14) / 6}) < 8 * ulp);                // (0 + (2 2 + 4 6) / 6) / 2
    CHECK(difference(variances[rank], {(1 + real(18) / 6) / 2}) < 8 * ulp);  // (1 + (2 1 + 4 4) / 6) / 2
  }
}

TEST_CASE("batch renorm: equal cases; an infinite variance; NaN") {
  const BatchStatistics running{Tensor::full({1}, 1), Tensor::full({1}, 4)};
  const auto at = [&](const Tensor& a) {
    return batch_renorm(a, Tensor::full({1}, 2), Tensor::full({1}, 10), running, {}, {.epsilon = 0});
  };
  const auto with_epsilon = [&](const Tensor& a) {
    return batch_renorm(a, Tensor::full({1}, 2), Tensor::full({1}, 10), running);
  };
  // d = (3 - 1) / 2, and 5 at its limit
  CHECK(difference(with_epsilon(Tensor::full({4, 1}, 3)), {12, 12, 12, 12}) < 1e-4);
  CHECK(difference(with_epsilon(Tensor::full({4, 1}, real(3e38))), {20, 20, 20, 20}) < 8 * ulp);
  const real huge = std::sqrt(std::numeric_limits<real>::max()) * 4;
  CHECK(difference(at(Tensor::from({2, 1}, {huge, -huge})), {9, 9}) < 8 * ulp);  // d = -1 / 2
  CHECK(std::isnan(at(Tensor::from({2, 1}, {std::numeric_limits<real>::quiet_NaN(), 1}))[1]));
}

TEST_CASE("batch renorm: errors") {
  const Tensor a({4, 3}), three({3}), two({2});
  const BatchStatistics running{three, three};
  CHECK_ERROR(
      batch_renorm(a, two, two, running),
      "batch_renorm: input [4 x 3], gain [2], bias [2]; gain and bias must have the input's last size");
  CHECK_ERROR(batch_renorm(a, three, three, {two, three}),
              "batch_renorm: running mean [2], running variance [3], gain [3]; all must be equal");
  CHECK_ERROR(batch_renorm(a, three, three, running, {.r_max = real(0.5)}),
              "batch_renorm: r_max is 0.5, d_max 5; at least 1 and 0 are needed");
  CHECK_ERROR(composed::batch_renorm(a, three, three, running, {.d_max = -1}),
              "batch_renorm: r_max is 3, d_max -1; at least 1 and 0 are needed");
  CHECK_ERROR(batch_renorm(Tensor({0, 3}), three, three, running),
              "batch_renorm: [0 x 3] has 0 cases; at least one is needed");
}
