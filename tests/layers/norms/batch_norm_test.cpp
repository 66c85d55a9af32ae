// Batch norm: values, gradients, twins, running averages.

#include "layers/norms/batch_norm.h"

#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

Layer fused(Variance estimate, real epsilon = real(1e-5)) {
  return [=](const std::vector<Tensor>& in) { return batch_norm(in[0], in[1], in[2], {epsilon, estimate}); };
}
Layer twin(Variance estimate, real epsilon = real(1e-5)) {
  return [=](const std::vector<Tensor>& in) {
    return composed::batch_norm(in[0], in[1], in[2], {epsilon, estimate});
  };
}

constexpr Variance estimates[] = {Variance::biased, Variance::unbiased};

std::vector<Tensor> inputs(const Shape& shape, double low = -2, double high = 2) {
  const Shape row{shape.columns()};
  return {sample(shape, 1, low, high), sample(row, 2, 0.5, 1.5), sample(row, 3)};
}

}  // namespace

TEST_CASE("batch norm: a 3 x 2 example by hand") {
  // Column 1, 2, 6: mean 3, sum of squares 14. Column 0, 0, 3: mean 1, sum of squares 6.
  const Tensor a = Tensor::from({3, 2}, {1, 0, 2, 0, 6, 3});
  const Tensor gain = Tensor::from({2}, {1, 2}), bias = Tensor::from({2}, {0, 10});
  const auto expected = [](double s, double t) {
    return std::vector<real>{real(-2 / s),     real(10 - 2 / t), real(-1 / s),
                             real(10 - 2 / t), real(3 / s),      real(10 + 4 / t)};
  };
  BatchStatistics statistics;
  const Tensor y = batch_norm(a, gain, bias, {.epsilon = 0}, &statistics);
  CHECK(difference(y.values(), expected(std::sqrt(14.0 / 3), std::sqrt(2.0))) < 4 * ulp);
  CHECK(difference(statistics.mean, {3, 1}) < 4 * ulp);
  CHECK(difference(statistics.variance, {14.0 / 3, 2}) < 4 * ulp);
  const Tensor u = batch_norm(a, gain, bias, {.epsilon = 0, .variance = Variance::unbiased}, &statistics);
  CHECK(difference(u.values(), expected(std::sqrt(7.0), std::sqrt(3.0))) < 4 * ulp);
  CHECK(difference(statistics.variance, {7, 3}) < 4 * ulp);
}

TEST_CASE("batch norm: gradients, biased and unbiased") {
  for (const Variance estimate : estimates)
    for (const Shape& shape :
         {Shape{1, 3}, Shape{2, 1}, Shape{2, 33}, Shape{3, 5}, Shape{7, 17}, Shape{9, 65}, Shape{2, 3, 4}}) {
      if (shape.rows() == 1 && estimate == Variance::unbiased) continue;
      CAPTURE(text(shape));
      const auto in = inputs(shape);
      // Two cases become +1 and -1 whatever they are, except for epsilon: a larger epsilon leaves a
      // derivative to check.
      const real epsilon = shape.rows() <= 2 ? real(0.1) : real(1e-5);
      check_gradients(in, [&] { return weighted(fused(estimate, epsilon)(in)); });
      check_gradients(in, [&] { return weighted(twin(estimate, epsilon)(in)); });
      check_gradients(in,
                      [&] { return weighted(fused(estimate, epsilon)(in)) + weighted(tanh(in[0]) * in[1]); });
    }
}

TEST_CASE("batch norm: gradients in evaluate mode") {
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 3}, Shape{7, 17}}) {
    Parameters parameters(1);
    BatchNorm norm(parameters, "norm", {.features = shape.columns()});
    norm(sample({shape[0] + 1, shape[1]}, 5), Mode::train);
    const Tensor x = sample(shape, 1);
    check_gradients({x, norm.gain, norm.bias}, [&] { return weighted(norm(x, Mode::evaluate)); });
  }
}

TEST_CASE("batch norm: each input alone may need its gradient") {
  check_each_alone(fused(Variance::biased), inputs({5, 7}));
}

TEST_CASE("batch norm: fused equals composed") {
  for (const Variance estimate : estimates)
    for (const Shape& shape : {Shape{1, 1}, Shape{1, 5}, Shape{3, 5}, Shape{7, 17}, Shape{64, 257},
                               Shape{300, 100}, Shape{2, 3, 40}}) {
      if (shape.rows() == 1 && estimate == Variance::unbiased) continue;
      check_twins(fused(estimate), twin(estimate), inputs(shape), twin_tolerance(64));
    }
  check_twins(fused(Variance::biased, real(0.1)), twin(Variance::biased, real(0.1)), inputs({2, 33}),
              twin_tolerance(64));
}

TEST_CASE("batch norm: one and two threads agree") {
  check_threads(fused(Variance::biased), inputs({300, 257}), 64 * ulp);
  check_threads(fused(Variance::unbiased), inputs({33, 1000}), 64 * ulp);
}

TEST_CASE("batch norm: inputs far from zero keep their precision") {
  const size_t rows = 400, columns = 20;
  const auto in = inputs({rows, columns}, 999, 1001);
  // The twin's plain sums lose digits here, so in float it cannot serve as reference.
  if (sizeof(real) == 8) check_twins(fused(Variance::biased), twin(Variance::biased), in, 1e-10);
  const Tensor y = batch_norm(in[0], Tensor::ones({columns}), Tensor::zeros({columns}));
  double worst = 0;
  for (size_t c = 0; c < columns; ++c) {
    const auto at = [&](size_t r) { return static_cast<long double>(in[0][r * columns + c]); };
    long double mean = 0, square_sum = 0;
    for (size_t r = 0; r < rows; ++r) mean += at(r) / rows;
    for (size_t r = 0; r < rows; ++r) square_sum += (at(r) - mean) * (at(r) - mean);
    const long double deviation = std::sqrt(square_sum / rows + static_cast<long double>(real(1e-5)));
    for (size_t r = 0; r < rows; ++r) {
      const auto error = static_cast<long double>(y[r * columns + c]) - (at(r) - mean) / deviation;
      worst = std::max(worst, static_cast<double>(std::fabs(error)));
    }
  }
  CHECK(worst < 1000 * ulp);
}

TEST_CASE("batch norm: running averages move towards the batch's, and only in training") {
  Parameters parameters(1);
  BatchNorm norm(parameters, "norm", {.features = 2, .epsilon = 0, .momentum = real(0.25), .gain = 2});
  CHECK(parameters.learned()[0].name == "norm.gain");
  CHECK(parameters.learned()[1].name == "norm.bias");
  CHECK(parameters.state()[0].name == "norm.running_mean");
  CHECK(parameters.state()[1].name == "norm.running_variance");
  const Tensor a = Tensor::from({3, 2}, {1, 0, 2, 0, 6, 3});
  norm(a, Mode::train);
  CHECK(difference(norm.running_mean, {0.75, 0.25}) < 4 * ulp);
  CHECK(difference(norm.running_variance, {0.75 + 14.0 / 12, 0.75 + 0.5}) < 4 * ulp);
  norm(a, Mode::train);
  CHECK(difference(norm.running_mean, {0.75 * 0.75 + 0.75, 0.75 * 0.25 + 0.25}) < 4 * ulp);

  const Tensor before = norm.running_mean.copy();
  const Tensor y = norm(a, Mode::evaluate);
  CHECK(identical(before, norm.running_mean));
  const double deviation = std::sqrt(static_cast<double>(norm.running_variance[0]));
  CHECK(std::fabs(y[0] - 2 * (1 - static_cast<double>(before[0])) / deviation) < 8 * ulp);
  // A single case can be evaluated, and does not depend on the others.
  CHECK(identical(norm(a.slice(1, 2), Mode::evaluate), y.slice(1, 2)));
}

TEST_CASE("batch norm: errors name the op and the shapes") {
  const Tensor a({2, 3}), three({3}), two({2});
  const std::string must = "; gain and bias must have the input's last size";
  CHECK_ERROR(batch_norm(a, two, two), "batch_norm: input [2 x 3], gain [2], bias [2]" + must);
  CHECK_ERROR(batch_norm(a, three, two), "batch_norm: input [2 x 3], gain [3], bias [2]" + must);
  CHECK_ERROR(batch_norm(Tensor({0, 3}), three, three),
              "batch_norm: [0 x 3] has 0 cases; at least one is needed");
  CHECK_ERROR(batch_norm(Tensor({1, 3}), three, three, {.variance = Variance::unbiased}),
              "batch_norm: [1 x 3] has 1 cases; the unbiased variance needs two");
  CHECK_ERROR(composed::batch_norm(a, two, two), "batch_norm: input [2 x 3], gain [2], bias [2]" + must);
  Parameters parameters(1);
  BatchNorm one(parameters, "one", {.features = 1});  // a single number would fit any shape
  CHECK_ERROR(one(a, Mode::train), "batch_norm 'one': input [2 x 3], gain [1], bias [1]" + must);
  CHECK_ERROR(one(a, Mode::evaluate), "batch_norm 'one': input [2 x 3], gain [1], bias [1]" + must);
}

TEST_CASE("batch norm: a single case is refused where it would be normalized by itself") {
  Parameters parameters(1);
  BatchNorm norm(parameters, "norm", {.features = 3});
  const auto error = [](const std::string& shape) {
    return "batch_norm 'norm': " + shape +
           " is a single case, which has no variance and would become the bias; train with at least two, or "
           "leave a "
           "last batch of one out";
  };
  for (const Mode mode : {Mode::train, Mode::evaluate_by_batch}) {
    CHECK_ERROR(norm(sample({1, 3}, 1), mode), error("[1 x 3]"));
    CHECK_ERROR(norm(sample({1, 1, 1, 3}, 1), mode), error("[1 x 1 x 1 x 3]"));
    CHECK(norm(sample({1, 2, 1, 3}, 1), mode).size() == 6);
    CHECK(norm(sample({2, 3}, 1), mode).size() == 6);
  }
  CHECK(norm(sample({1, 3}, 1), Mode::evaluate).size() == 3);
}

TEST_CASE("batch norm: equal cases become the bias, at any size") {
  for (const double level : {static_cast<double>(std::numeric_limits<real>::max()), 3e38, -3e38, 1e30}) {
    CAPTURE(level);
    Tensor a = Tensor::full({50, 3}, static_cast<real>(level)).require_gradient();
    const Tensor bias = sample({3}, 3);
    Tape tape;
    const Tensor y = batch_norm(a, Tensor::ones({3}), bias);
    for (size_t i = 0; i < y.size(); ++i) CHECK(y[i] == bias[i % 3]);
    tape.backward(weighted(y));
    CHECK(std::isfinite(static_cast<double>(sum(a.gradient()).item())));
  }
}

TEST_CASE("batch norm: where the variance is infinite, the bias remains and nothing passes back") {
  const real huge = std::sqrt(std::numeric_limits<real>::max()) * 4;
  Tensor a = Tensor::from({2, 1}, {huge, -huge}).require_gradient();
  Tape tape;
  const Tensor y = batch_norm(a, Tensor::ones({1}), Tensor::full({1}, 3));
  CHECK(difference(y, {3, 3}) == 0);
  tape.backward(weighted(y));
  CHECK(identical(a.gradient(), Tensor::zeros({2, 1})));
}

TEST_CASE("batch norm: the composed twin gives equal cases the bias, and a single case no derivative") {
  const Tensor gain = sample({33}, 1), bias = sample({33}, 2);
  const Tensor equal = matmul(Tensor::ones({47, 1}), sample({1, 33}, 3, 50, 60));
  CHECK(difference(composed::batch_norm(equal, gain, bias), batch_norm(equal, gain, bias)) < ulp);
  Tensor one = leaf({1, 33}, 4);
  Tape tape;
  // Other gradients of the case must not be rounded at the magnitude of derivatives that cancel.
  tape.backward(weighted(composed::batch_norm(one, gain, bias)) + sum(one * real(0.1)));
  CHECK(identical(one.gradient(), Tensor::full({1, 33}, real(0.1))));
}

TEST_CASE("batch norm: the caller may change the statistics it was given before the backward pass") {
  const auto gradient = [](bool change) {
    const Tensor a = leaf({5, 3}, 1), gain = sample({3}, 2), bias = sample({3}, 3);
    Tape tape;
    BatchStatistics statistics;
    const Tensor loss = weighted(batch_norm(a, gain, bias, {}, &statistics));
    for (Tensor* const each : {&statistics.mean, &statistics.variance})
      if (change) std::ranges::fill(each->values(), real{7});
    tape.backward(loss);
    return a.gradient();
  };
  CHECK(identical(gradient(true), gradient(false)));
}

TEST_CASE("batch norm: evaluation and training may share a tape, for rows and for maps") {
  for (const Shape& shape : {Shape{4, 2}, Shape{2, 3, 3, 2}}) {
    Parameters parameters(1);
    BatchNorm norm(parameters, "norm", {.features = 2});
    Tensor a = leaf(shape, 1);
    const std::vector<Tensor> averages{norm.running_mean.copy(), norm.running_variance.copy()};
    const auto run = [&](const std::vector<std::vector<Mode>>& tapes) {
      std::ranges::copy(averages[0].values(), norm.running_mean.data());
      std::ranges::copy(averages[1].values(), norm.running_variance.data());
      a.clear_gradient();
      for (const std::vector<Mode>& modes : tapes) {
        Tape tape;
        Tensor loss = Tensor::zeros({});
        for (const Mode mode : modes) loss = loss + weighted(square(norm(a, mode)));
        tape.backward(loss);
      }
      return a.gradient();
    };
    const Tensor together = run({{Mode::evaluate, Mode::train}});
    CHECK(difference(together, run({{Mode::evaluate}, {Mode::train}})) < 16 * ulp);
  }
}

TEST_CASE("batch norm: maps of no cases are refused and leave the running averages alone") {
  for (const BatchNormOptions& options :
       {BatchNormOptions{.features = 2}, BatchNormOptions{.features = 2, .part = 2},
        BatchNormOptions{.features = 2, .r_max = 3, .d_max = 5}}) {
    Parameters parameters(1);
    BatchNorm norm(parameters, "norm", options);
    const std::string error = error_of([&] { norm(Tensor({0, 3, 3, 2}), Mode::train); });
    CHECK(contains(error, "'norm': [0 x 3 x 3 x 2] has 0 cases; at least one is needed"));
    CHECK(difference(norm.running_mean, {0, 0}) == 0);
    CHECK(difference(norm.running_variance, {1, 1}) == 0);
    CHECK(norm(Tensor({0, 3, 3, 2}), Mode::evaluate).shape() == Shape{0, 3, 3, 2});
  }
}
