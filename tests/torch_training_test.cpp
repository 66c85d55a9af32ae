// Losses with options and optimizers with groups and frozen parameters agree with PyTorch's, as recorded in
// tests/fixtures.

#include "core/ops.h"
#include "optim/adam.h"
#include "optim/sgd.h"
#include "tests/check.h"
#include "tests/fixtures/torch_training_fixtures.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr double tolerance = sizeof(real) == 8 ? 1e-10 : 1e-5;

Tensor tensor(const Shape& shape, const std::vector<double>& values) {
  return Tensor::from(shape, std::vector<real>(values.begin(), values.end()));
}

Tensor wanted(const Shape& shape, const std::vector<double>& values) {
  return tensor(shape, values).require_gradient();
}

void check_equal(const Tensor& ours, const std::vector<double>& theirs) {
  const std::vector<real> expected(theirs.begin(), theirs.end());
  CHECK(difference(ours.values(), expected) < tolerance);
}

}  // namespace

TEST_CASE("torch: cross entropy with ignored labels, class weights and smoothing") {
  const Tensor weights = tensor({4}, torch_training::class_weights);
  const auto check = [&](const CrossEntropyOptions& options, const std::vector<double>& expected,
                         const std::vector<double>& derivative) {
    const Tensor x = wanted({6, 4}, torch_training::logits);
    Tape tape;
    const Tensor loss = cross_entropy(x, {3, 0, -1, 2, 2, 1}, options);
    check_equal(loss, expected);
    tape.backward(loss);
    check_equal(x.gradient(), derivative);
  };
  const real smoothing = real(0.125);
  check({.ignored_label = -1}, torch_training::ignoring, torch_training::ignoring_dx);
  check({.ignored_label = -1, .class_weights = weights}, torch_training::weighted,
        torch_training::weighted_dx);
  check({.ignored_label = -1, .label_smoothing = smoothing}, torch_training::smoothed,
        torch_training::smoothed_dx);
  check({.ignored_label = -1, .class_weights = weights, .label_smoothing = smoothing},
        torch_training::weighted_smoothed, torch_training::weighted_smoothed_dx);
}

TEST_CASE("torch: regression losses") {
  const auto check = [](const auto& loss_of, const std::vector<double>& expected,
                        const std::vector<double>& dp, const std::vector<double>& dt) {
    const Tensor p = wanted({3, 5}, torch_training::predictions), t = wanted({3, 5}, torch_training::targets);
    Tape tape;
    const Tensor loss = loss_of(p, t);
    check_equal(loss, expected);
    tape.backward(loss);
    check_equal(p.gradient(), dp);
    check_equal(t.gradient(), dt);
  };
  check(mean_squared_error, torch_training::mean_squared_error, torch_training::mean_squared_error_dp,
        torch_training::mean_squared_error_dt);
  check([](const Tensor& p, const Tensor& t) { return huber(p, t, {.delta = real(0.75)}); },
        torch_training::huber, torch_training::huber_dp, torch_training::huber_dt);
}

namespace {

/// Six steps on a matrix and a vector; in the steps listed in `frozen` the matrix is frozen.
template <class Kind, class Options>
void check_path(const Options& options, const std::vector<double>& expected,
                const std::vector<int>& frozen = {}) {
  Parameters parameters(1);
  const Tensor matrix = parameters.add("matrix", tensor({2, 3}, torch_training::matrix)),
               vector = parameters.add("vector", tensor({3}, torch_training::vector));
  const Tensor matrix_curvature = tensor({2, 3}, torch_training::matrix_curvature),
               matrix_slope = tensor({2, 3}, torch_training::matrix_slope),
               vector_curvature = tensor({3}, torch_training::vector_curvature),
               vector_slope = tensor({3}, torch_training::vector_slope);
  Kind optimizer(parameters, options);
  for (int step = 0; step < 6; ++step) {
    CAPTURE(step);
    if (std::ranges::count(frozen, step) > 0)
      parameters.freeze("matrix");
    else
      parameters.thaw("matrix");
    Tape tape;
    tape.backward(sum(matrix_curvature * square(matrix)) + sum(matrix_slope * matrix) +
                  sum(vector_curvature * square(vector)) + sum(vector_slope * vector));
    optimizer.step();
    const auto at = expected.begin() + step * 9;
    check_equal(matrix, std::vector<double>(at, at + 6));
    check_equal(vector, std::vector<double>(at + 6, at + 9));
  }
}

}  // namespace

TEST_CASE("torch: AdamW and groups") {
  const real rate = real(0.125), decay = real(0.25);
  check_path<AdamW, AdamWOptions>({.learning_rate = rate, .weight_decay = decay},
                                  torch_training::adamw_matrices);
  check_path<AdamW, AdamWOptions>({.learning_rate = rate, .weight_decay = decay, .decayed = Decayed::all},
                                  torch_training::adamw_all);
  check_path<Adam, AdamOptions>({.learning_rate = rate, .weight_decay = decay}, torch_training::adamw_all);
  check_path<AdamW, AdamWOptions>(
      {.learning_rate = rate,
       .weight_decay = decay,
       .decayed = Decayed::all,
       .groups = {{.names = {"matrix"}, .learning_rate = real(0.0625), .weight_decay = real(0.5)}}},
      torch_training::adamw_groups);
  check_path<Sgd, SgdOptions>({.learning_rate = real(0.0625),
                               .momentum = real(0.75),
                               .groups = {{.names = {"matrix"}, .learning_rate_factor = real(0.5)},
                                          {.names = {"vector"}, .weight_decay = real(0.5)}}},
                              torch_training::sgd_groups);
}

TEST_CASE("torch: parameters that are frozen for some steps") {
  check_path<Adam, AdamOptions>({.learning_rate = real(0.125), .weight_decay = real(0.25)},
                                torch_training::adam_frozen, {0, 1, 4});
  check_path<Sgd, SgdOptions>(
      {.learning_rate = real(0.0625), .momentum = real(0.75), .weight_decay = real(0.125)},
      torch_training::sgd_frozen, {2, 3});
}
