// Numbers for images that agree with PyTorch's, as recorded in tests/fixtures.

#include "core/ops.h"
#include "layers/norms/batch_norm.h"
#include "layers/norms/group_norm.h"
#include "tests/check.h"
#include "tests/fixtures/torch_conv_fixtures.h"
#include "tests/fixtures/torch_map_norm_fixtures.h"
#include "tests/fixtures/torch_unit_norm_fixtures.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr double tolerance = sizeof(real) == 8 ? 1e-10 : 2e-5;

Tensor wanted(const Shape& shape, const std::vector<double>& values) {
  return Tensor::from(shape, std::vector<real>(values.begin(), values.end())).require_gradient();
}

void check_equal(const Tensor& ours, const std::vector<double>& theirs) {
  const std::vector<real> expected(theirs.begin(), theirs.end());
  CHECK(difference(ours.values(), expected) < tolerance);
}

/// x is [N x C x H x W] as in PyTorch; `layer` gets channels last.
struct Run {
  Tensor x = wanted({2, 4, 5, 6}, torch_conv::x);
  Tensor gain = wanted({4}, torch_map_norm::gain), bias = wanted({4}, torch_map_norm::bias);

  template <class Apply>
  void compare(const Apply& layer, const std::vector<double>& value, const std::vector<double>& dx) {
    Tape tape;
    const Tensor y = channels_first(layer(channels_last(x)));
    check_equal(y, value);
    tape.backward(sum(square(y)));
    check_equal(x.gradient(), dx);
  }
};

}  // namespace

TEST_CASE("torch: convolution with stride and padding") {
  Run run;
  Tensor w = wanted({3, 2, 4, 3}, torch_conv::w), b = wanted({3}, torch_conv::b);
  run.compare([&](const Tensor& x) { return conv2d(x, w, b, {.stride = 2, .padding = 1}); }, torch_conv::conv,
              torch_conv::conv_dx);
  check_equal(w.gradient(), torch_conv::conv_dw);
  check_equal(b.gradient(), torch_conv::conv_db);
}

TEST_CASE("torch: pooling") {
  Run().compare([](const Tensor& x) { return max_pool2d(x); }, torch_conv::max_pool, torch_conv::max_pool_dx);
  Run().compare([](const Tensor& x) { return max_pool2d(x, {.window = 3, .stride = 2}); },
                torch_conv::max_pool_3_2, torch_conv::max_pool_3_2_dx);
  Run().compare([](const Tensor& x) { return average_pool2d(x); }, torch_conv::average_pool,
                torch_conv::average_pool_dx);
}

TEST_CASE("torch: batch, group and instance norm of feature maps") {
  Run batch, group, instance;
  batch.compare([&](const Tensor& x) { return batch_norm_maps(x, batch.gain, batch.bias); },
                torch_map_norm::batch_norm, torch_map_norm::batch_norm_dx);
  check_equal(batch.gain.gradient(), torch_map_norm::batch_norm_dgain);
  check_equal(batch.bias.gradient(), torch_map_norm::batch_norm_dbias);
  group.compare([&](const Tensor& x) { return group_norm(x, group.gain, group.bias, {.groups = 2}); },
                torch_map_norm::group_norm, torch_map_norm::group_norm_dx);
  check_equal(group.gain.gradient(), torch_map_norm::group_norm_dgain);
  check_equal(group.bias.gradient(), torch_map_norm::group_norm_dbias);
  instance.compare(
      [&](const Tensor& x) { return group_norm(x, instance.gain, instance.bias, {.groups = 4}); },
      torch_map_norm::instance_norm, torch_map_norm::instance_norm_dx);
  check_equal(instance.gain.gradient(), torch_map_norm::instance_norm_dgain);
  check_equal(instance.bias.gradient(), torch_map_norm::instance_norm_dbias);
}

TEST_CASE("torch: layer norm of feature maps, a gain and a bias for each unit") {
  Run run;
  Tensor gain = wanted({1, 4, 5, 6}, torch_unit_norm::gain),
         bias = wanted({1, 4, 5, 6}, torch_unit_norm::bias);
  run.compare(
      [&](const Tensor& x) {
        return group_norm(x, channels_last(gain).reshape({5, 6, 4}), channels_last(bias).reshape({5, 6, 4}));
      },
      torch_unit_norm::layer_norm, torch_unit_norm::layer_norm_dx);
  check_equal(gain.gradient(), torch_unit_norm::layer_norm_dgain);
  check_equal(bias.gradient(), torch_unit_norm::layer_norm_dbias);
}
