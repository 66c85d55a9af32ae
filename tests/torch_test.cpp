// Numbers that agree with PyTorch's, as recorded in tests/fixtures.

#include "core/ops.h"
#include "layers/linear.h"
#include "layers/norms/batch_norm.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/weight_norm.h"
#include "optim/adam.h"
#include "optim/clip.h"
#include "optim/sgd.h"
#include "tests/check.h"
#include "tests/fixtures/torch_fixtures.h"

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

struct Inputs {
  Tensor x = wanted({4, 5}, torch::x), gain = wanted({5}, torch::gain), bias = wanted({5}, torch::bias);
  Tensor seed = tensor({4, 5}, torch::seed);
};

}  // namespace

TEST_CASE("torch: layer norm") {
  Inputs in;
  Tape tape;
  const Tensor y = layer_norm(in.x, in.gain, in.bias);
  check_equal(y, torch::layer_norm);
  tape.backward(y, in.seed);
  check_equal(in.x.gradient(), torch::layer_norm_dx);
  check_equal(in.gain.gradient(), torch::layer_norm_dgain);
  check_equal(in.bias.gradient(), torch::layer_norm_dbias);
}

TEST_CASE("torch: batch norm in training and evaluation") {
  Inputs in;
  Parameters parameters(1);
  BatchNorm norm(parameters, "norm", {.features = 5, .momentum = real(0.3)});
  std::ranges::copy(in.gain.values(), norm.gain.data());
  std::ranges::copy(in.bias.values(), norm.bias.data());
  const auto check_gradients_of = [&](const Tensor& y, Tape& tape, const std::vector<double>& dx,
                                      const std::vector<double>& dgain, const std::vector<double>& dbias) {
    tape.backward(y, in.seed);
    check_equal(in.x.gradient(), dx);
    check_equal(norm.gain.gradient(), dgain);
    check_equal(norm.bias.gradient(), dbias);
    in.x.clear_gradient();
    parameters.clear_gradients();
  };
  {
    Tape tape;
    const Tensor y = norm(in.x, Mode::train);
    check_equal(y, torch::batch_norm);
    check_gradients_of(y, tape, torch::batch_norm_dx, torch::batch_norm_dgain, torch::batch_norm_dbias);
  }
  norm(in.x * real(2) + real(1), Mode::train);
  check_equal(norm.running_mean, torch::batch_norm_running_mean);
  // PyTorch normalizes with the biased variance but averages the unbiased one; Lamina averages the one that
  // it uses. After two batches of 4 the part from the batches differs by 4/3; the part from the initial
  // value, 0.7^2, does not.
  Tensor unbiased = (norm.running_variance - real(0.49)) * real(4.0 / 3) + real(0.49);
  check_equal(unbiased, torch::batch_norm_running_variance);
  std::ranges::copy(unbiased.values(), norm.running_variance.data());
  Tape tape;
  const Tensor y = norm(in.x, Mode::evaluate);
  check_equal(y, torch::batch_norm_evaluate);
  check_gradients_of(y, tape, torch::batch_norm_evaluate_dx, torch::batch_norm_evaluate_dgain,
                     torch::batch_norm_evaluate_dbias);
}

TEST_CASE("torch: weight norm of a linear layer") {
  Inputs in;
  Parameters parameters(1);
  Linear layer(parameters, "layer", {.input = 3, .output = 5, .bias = false, .weights = Norm::weight});
  std::ranges::copy(tensor({15}, torch::weight_norm_direction).values(), layer.weight.data());
  std::ranges::copy(in.gain.values(), layer.gain.data());
  Tensor x = wanted({4, 3}, torch::weight_norm_x);
  Tape tape;
  const Tensor y = layer(x);
  check_equal(y, torch::weight_norm_y);
  tape.backward(y, in.seed);
  check_equal(x.gradient(), torch::weight_norm_dx);
  check_equal(layer.weight.gradient(), torch::weight_norm_ddirection);
  check_equal(layer.gain.gradient(), torch::weight_norm_dgain);
}

TEST_CASE("torch: losses") {
  Inputs in;
  {
    Tape tape;
    const Tensor loss = cross_entropy(in.x, {{4, 0, 2, 2}});
    check_equal(loss, torch::cross_entropy);
    tape.backward(loss);
    check_equal(in.x.gradient(), torch::cross_entropy_dx);
  }
  in.x.clear_gradient();
  Tape tape;
  const Tensor y = bernoulli_cross_entropy(in.x, tensor({4, 5}, torch::targets));
  check_equal(y, torch::bernoulli);
  tape.backward(y, in.seed);
  check_equal(in.x.gradient(), torch::bernoulli_dx);
}

TEST_CASE("torch: embedding") {
  Inputs in;
  Tensor table = wanted({6, 5}, torch::table);
  Tape tape;
  const Tensor y = gather(table, {{2, 0, 2, 5}});
  check_equal(y, torch::embedding);
  tape.backward(y, in.seed);
  check_equal(table.gradient(), torch::embedding_dtable);
}

namespace {

template <class Kind, class Options>
void check_path(const Options& options, const std::vector<double>& expected) {
  Parameters parameters(1);
  Tensor w = parameters.add("w", tensor({5}, torch::start));
  const Tensor curvature = tensor({5}, torch::curvature), slope = tensor({5}, torch::slope);
  Kind optimizer(parameters, options);
  for (auto from = expected.begin(); from != expected.end(); from += 5) {
    Tape tape;
    tape.backward(sum(curvature * square(w)) + sum(slope * w));
    optimizer.step();
    check_equal(w, std::vector<double>(from, from + 5));
  }
}

}  // namespace

TEST_CASE("torch: optimizers") {
  check_path<Adam, AdamOptions>({.learning_rate = real(0.125)}, torch::adam);
  check_path<Adam, AdamOptions>(
      {.learning_rate = real(0.125), .beta1 = real(0.5), .beta2 = real(0.75), .epsilon = real(0.0625)},
      torch::adam_other_betas);
  check_path<Adam, AdamOptions>({.learning_rate = real(0.125), .weight_decay = real(0.25)}, torch::adamw);
  check_path<Sgd, SgdOptions>({.learning_rate = real(0.0625)}, torch::sgd);
  check_path<Sgd, SgdOptions>({.learning_rate = real(0.0625), .momentum = real(0.75)}, torch::sgd_momentum);
  check_path<Sgd, SgdOptions>(
      {.learning_rate = real(0.0625), .momentum = real(0.75), .nesterov = true, .weight_decay = real(0.125)},
      torch::sgd_nesterov);
}

TEST_CASE("torch: clipping") {
  Inputs in;
  Parameters parameters(1);
  Tensor x = parameters.add("x", in.x.copy()), gain = parameters.add("gain", in.gain.copy());
  Tape tape;
  tape.backward(sum(square(x) / real(2)) + sum(square(gain) / real(2)));
  const real norm = clip_gradient_norm(parameters, real(1.5));
  check_equal(Tensor::full({}, norm), torch::clip_norm);
  // PyTorch divides by norm + 1e-6, which leaves the clipped norm a little below the limit.
  const real factor = norm / (norm + real(1e-6));
  check_equal(x.gradient() * factor, torch::clip_x);
  check_equal(gain.gradient() * factor, torch::clip_gain);
}
