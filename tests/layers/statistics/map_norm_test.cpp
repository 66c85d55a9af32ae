// Normalization of feature maps: group, instance, layer and interior layer norm, batch norm; with relu and
// pooling.

#include "layers/norms/batch_norm.h"
#include "layers/norms/group_norm.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/normalization.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

const std::vector<ReluPool> followers = {{}, {.relu = true}, {.window = 2}, {.relu = true, .window = 2}};

Layer fused(const GroupNormOptions& options) {
  return [=](const std::vector<Tensor>& in) { return group_norm(in[0], in[1], in[2], options); };
}
Layer twin(const GroupNormOptions& options) {
  return [=](const std::vector<Tensor>& in) { return composed::group_norm(in[0], in[1], in[2], options); };
}
Layer fused(const BatchPassOptions& options) {
  return [=](const std::vector<Tensor>& in) { return batch_norm_maps(in[0], in[1], in[2], options); };
}
Layer twin(const BatchPassOptions& options) {
  return
      [=](const std::vector<Tensor>& in) { return composed::batch_norm_maps(in[0], in[1], in[2], options); };
}

std::vector<Tensor> inputs(const Shape& maps, const Shape& parameter) {
  return {sample(maps, 1, -2, 2), sample(parameter, 2, 0.5, 1.5), sample(parameter, 3)};
}

/// gain and bias per channel, and per unit
std::vector<Shape> parameter_shapes(const Shape& maps) { return {{maps[3]}, {maps[1], maps[2], maps[3]}}; }

}  // namespace

TEST_CASE("group norm: a 1 x 1 x 2 x 4 example by hand") {
  // Channels 0 and 1 hold 1, 2, 3, 6: mean 3, variance (4 + 1 + 0 + 9) / 4. Channels 2 and 3: 0, 0, 2, 2.
  const Tensor a = Tensor::from({1, 1, 2, 4}, {1, 2, 0, 2, 3, 6, 2, 0});
  const Tensor gain = Tensor::ones({4}), bias = Tensor::zeros({4});
  const double s = std::sqrt(3.5);
  const GroupNormOptions options = {.groups = 2, .epsilon = 0};
  CHECK(difference(group_norm(a, gain, bias, options), {-2 / s, -1 / s, -1, 1, 0, 3 / s, 1, -1}) < 8 * ulp);
}

TEST_CASE("group norm: with one group it is layer norm of the whole map") {
  const std::vector<Tensor> in = inputs({3, 4, 5, 6}, {4, 5, 6});
  const Layer flat = [](const std::vector<Tensor>& x) {
    return layer_norm(x[0].reshape({3, 120}), x[1].reshape({120}), x[2].reshape({120})).reshape({3, 4, 5, 6});
  };
  check_twins(fused(GroupNormOptions{}), flat, in, twin_tolerance(64));
}

TEST_CASE("group norm: what follows is said to the layer or to the call, which goes before") {
  const Tensor a = sample({2, 4, 4, 6}, 1, -2, 2);
  Parameters parameters(1);
  const ReluPool then = {.relu = true, .window = 2};
  const GroupNorm plain(parameters, "plain", {6}, {.groups = 2});
  const GroupNorm followed(parameters, "followed", {6}, {.groups = 2, .then = then});
  CHECK(identical(followed(a), plain(a, then)));
  CHECK(identical(followed(a, {.relu = true}), plain(a, {.relu = true})));
  CHECK(identical(plain(a), group_norm(a, plain.gain, plain.bias, {.groups = 2})));
}

TEST_CASE("group norm: fused equals composed") {
  for (const Shape& maps : {Shape{1, 2, 2, 1}, Shape{2, 5, 7, 6}, Shape{3, 6, 6, 33}, Shape{4, 9, 2, 4}})
    for (const Shape& parameter : parameter_shapes(maps))
      for (const ReluPool& then : followers)
        for (const size_t groups : {size_t{1}, maps[3] % 2 == 0 ? size_t{2} : size_t{1}, maps[3]})
          for (const size_t border : {0U, 1U, 2U}) {
            if (2 * border >= std::min(maps[1], maps[2])) continue;
            CAPTURE(text(maps, ' ', parameter, " groups ", groups, " border ", border, " relu ", then.relu,
                         " window ", then.window));
            const GroupNormOptions options = {.groups = groups, .border = border, .then = then};
            check_twins(fused(options), twin(options), inputs(maps, parameter), twin_tolerance(512));
          }
}

TEST_CASE("group norm of a matrix: maps of one position") {
  const std::vector<Tensor> in = inputs({5, 12}, {12});
  check_twins(fused(GroupNormOptions{.groups = 3, .then = {.relu = true}}),
              twin(GroupNormOptions{.groups = 3, .then = {.relu = true}}), in, twin_tolerance(512));
  CHECK(fused(GroupNormOptions{.groups = 3})(in).shape() == Shape{5, 12});
}

TEST_CASE("group norm: gradients") {
  const Shape maps = {2, 5, 4, 4};
  for (const Shape& parameter : parameter_shapes(maps))
    for (const size_t groups : {1U, 2U, 4U})
      for (const size_t border : {0U, 1U}) {
        CAPTURE(text(parameter, " groups ", groups, " border ", border));
        const std::vector<Tensor> in = inputs(maps, parameter);
        const GroupNormOptions options = {.groups = groups, .border = border};
        check_gradients(in, [&] { return weighted(fused(options)(in)); });
      }
  const std::vector<Tensor> in = inputs(maps, {4});
  check_gradients(
      in,
      [&] { return weighted(fused(GroupNormOptions{.groups = 2, .then = {.relu = true, .window = 2}})(in)); },
      1e-4);
}

TEST_CASE("batch norm of maps: fused equals composed, and gradients") {
  for (const Shape& maps : {Shape{2, 1, 1, 1}, Shape{1, 3, 3, 2}, Shape{3, 5, 4, 5}, Shape{4, 6, 6, 33}})
    for (const Variance variance : {Variance::biased, Variance::unbiased})
      for (const ReluPool& then : followers) {
        if (then.window > maps[1]) continue;
        CAPTURE(text(maps, " unbiased ", variance == Variance::unbiased, " window ", then.window));
        const BatchPassOptions options = {.variance = variance, .then = then};
        check_twins(fused(options), twin(options), inputs(maps, {maps[3]}), twin_tolerance(2048));
      }
  const std::vector<Tensor> in = inputs({3, 4, 3, 2}, {2});
  for (const Variance variance : {Variance::biased, Variance::unbiased})
    check_gradients(in, [&] { return weighted(fused(BatchPassOptions{.variance = variance})(in)); });
}

TEST_CASE("normalization of maps: gain and bias may be parts of what is normalized") {
  const auto with_own_parts = [](const Layer& layer) -> Layer {
    return [=](const std::vector<Tensor>& in) {
      const Tensor pixels = in[0].reshape({18, 5});
      return layer({in[0], pixels.step(1), pixels.step(4)});
    };
  };
  const std::vector<Tensor> in = {sample({2, 3, 3, 5}, 1, -2, 2)};
  const BatchPassOptions over_images;
  const GroupNormOptions of_each;
  check_twins(with_own_parts(fused(over_images)), with_own_parts(twin(over_images)), in, twin_tolerance(18));
  check_twins(with_own_parts(fused(of_each)), with_own_parts(twin(of_each)), in, twin_tolerance(45));
}

TEST_CASE("normalization of maps: one and two threads agree") {
  const std::vector<Tensor> in = inputs({6, 14, 14, 32}, {32});
  const ReluPool then = {.relu = true, .window = 2};
  check_threads(fused(GroupNormOptions{.groups = 4, .then = then}), in, 1000 * ulp);
  check_threads(fused(BatchPassOptions{.then = then}), in, 1000 * ulp);
}

TEST_CASE("normalization of maps: by value, in training and in use") {
  const Tensor a = sample({4, 6, 6, 8}, 1, -1, 3);
  for (const NormEntry& entry : norm_table) {
    if (!entry.maps) continue;
    const Norm norm = entry.norm;
    CAPTURE(std::string(name_of(norm)));
    Parameters parameters(1);
    Normalization normalize(parameters, "n", {.norm = norm, .features = 8, .height = 6, .width = 6});
    for (const Mode mode : {Mode::train, Mode::evaluate}) {
      const Tensor plain = normalize(a, mode);
      CHECK(plain.shape() == a.shape());
      const ReluPool then = {.relu = true, .window = 2};
      CHECK(difference(normalize(a, Mode::evaluate_by_batch, then),
                       relu_pool(normalize(a, Mode::evaluate_by_batch), then)) < 8 * ulp);
    }
  }
}

TEST_CASE("normalization of maps: a scheme that no convolution has is refused") {
  Parameters parameters(1);
  CHECK_ERROR(Normalization(parameters, "n", {.norm = Norm::weight, .features = 8, .height = 6, .width = 6}),
              "normalization 'n': weight norm is for vectors, not for maps of [6 x 6 x 8]");
}

TEST_CASE("normalization of vectors: with any number of axes before them, and with none") {
  const Tensor a = sample({6, 8}, 1, -1, 3);
  for (const NormEntry& entry : norm_table) {
    if (!entry.vectors) continue;
    CAPTURE(std::string(entry.name));
    Parameters parameters(1);
    Normalization normalize(parameters, "n", {.norm = entry.norm, .features = 8, .groups = 2});
    const Tensor rows = normalize(a, Mode::evaluate);
    CHECK(identical(normalize(a.reshape({2, 3, 8}), Mode::evaluate).reshape({6, 8}), rows));
    CHECK(identical(normalize(a.reshape({1, 2, 3, 8}), Mode::evaluate).reshape({6, 8}), rows));
    CHECK(identical(normalize(a.step(5), Mode::evaluate), rows.step(5)));
  }
}

TEST_CASE("layer norm that leaves the border out: its interior has mean 0 and deviation 1") {
  const Tensor a = sample({2, 6, 6, 3}, 1, -1, 3);
  const Tensor y = group_norm(a, Tensor::ones({3}), Tensor::zeros({3}), {.border = 2});
  for (size_t n = 0; n < 2; ++n) {
    double total = 0, squares = 0;
    for (size_t h = 2; h < 4; ++h)
      for (size_t w = 2; w < 4; ++w)
        for (size_t c = 0; c < 3; ++c) {
          const double v = static_cast<double>(y[((n * 6 + h) * 6 + w) * 3 + c]);
          total += v;
          squares += v * v;
        }
    CHECK(std::fabs(total / 12) < 1e-5);
    CHECK(std::fabs(squares / 12 - 1) < 1e-4);
  }
}

TEST_CASE("normalization of maps: errors name the shapes") {
  const Tensor a = Tensor::zeros({2, 4, 4, 6}), row = Tensor::zeros({6});
  CHECK_ERROR(group_norm(a, row, row, {.groups = 4}),
              "group_norm: [2 x 4 x 4 x 6] has 6 channels, which do not divide into 4 groups");
  Parameters none(1);
  CHECK_ERROR(GroupNorm(none, "n", {6}, {.groups = 4}),
              "group_norm 'n': 6 channels do not divide into 4 groups");
  CHECK(none.learned().empty());
  CHECK_ERROR(group_norm(a, Tensor::zeros({5}), row),
              "group_norm: input [2 x 4 x 4 x 6], gain [5], bias [6]; both must be [6] or both [4 x 4 x 6]");
  for (const size_t border : {size_t{2}, size_t{1} << 63})
    CHECK_ERROR(group_norm(a, row, row, {.border = border}),
                text("group_norm: a border of ", border, " leaves nothing of maps [2 x 4 x 4 x 6]"));
  CHECK_ERROR(batch_norm_maps(Tensor::zeros({1, 1, 1, 6}), row, row, {.variance = Variance::unbiased}),
              "batch_norm_maps: [1 x 1 x 1 x 6] has one number per channel; the unbiased variance needs two");
  Parameters parameters(1);
  CHECK(contains(error_of([&] { Normalization(parameters, "n", {.norm = Norm::instance, .features = 8}); }),
                 "instance norm needs maps"));
}

namespace {

/// The largest error of `y`, normalized from `a` [N x H x W x C] over the numbers that have the same
/// `set_of(index)`, in units of the last place of 1.
template <class SetOf>
double worst_error(const Tensor& a, const Tensor& y, const SetOf& set_of) {
  struct Moments {
    long double count = 0, mean = 0, squares = 0;
  };
  std::vector<Moments> sets(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    Moments& set = sets[set_of(i)];
    set.count += 1;
    set.mean += static_cast<long double>(a[i]);
  }
  for (Moments& set : sets) set.mean /= std::max(set.count, 1.0L);
  const auto distance = [&](size_t i) { return static_cast<long double>(a[i]) - sets[set_of(i)].mean; };
  for (size_t i = 0; i < a.size(); ++i) sets[set_of(i)].squares += distance(i) * distance(i);
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const Moments& set = sets[set_of(i)];
    const long double deviation = std::sqrt(set.squares / set.count + static_cast<long double>(real(1e-5)));
    const long double error = static_cast<long double>(y[i]) - distance(i) / deviation;
    worst = std::max(worst, static_cast<double>(std::fabs(error)));
  }
  return worst / ulp;
}

}  // namespace

TEST_CASE("feature maps far from zero: the mean is right to half a unit of its last place") {
  for (const Shape& shape : {Shape{16, 28, 28, 8}, Shape{3, 7, 5, 33}, Shape{64, 12, 12, 3}}) {
    CAPTURE(text(shape));
    const size_t channels = shape[3], image = shape[1] * shape[2] * channels;
    const Tensor a = sample(shape, 1, 98, 102), gain = Tensor::ones({channels}),
                 bias = Tensor::zeros({channels});
    // Half a unit at 100 is 32 of 1, and the deviation is 1.15: 28. The mean of a channel and then that of a
    // group are rounded.
    CHECK(worst_error(a, batch_norm_maps(a, gain, bias, {}), [=](size_t i) { return i % channels; }) < 34);
    CHECK(worst_error(a, group_norm(a, gain, bias, {}), [=](size_t i) { return i / image; }) < 50);
  }
}

TEST_CASE("feature maps: equal numbers become the bias, at any size") {
  for (const real level : {real(0.1), real(1e3), real(1e30)}) {
    const Tensor a = Tensor::full({5, 7, 9, 6}, level), gain = Tensor::ones({6}), zero = Tensor::zeros({6});
    CHECK(identical(batch_norm_maps(a, gain, zero, {}), Tensor::zeros(a.shape())));
    CHECK(identical(group_norm(a, gain, zero, {}), Tensor::zeros(a.shape())));
  }
}

TEST_CASE("batch norm of maps: far from zero the variance keeps its digits") {
  const size_t channels = 5;
  const Tensor a = sample({3, 3, 16, channels}, 5, 1e5 - 2, 1e5 + 2);
  BatchStatistics batch;
  batch_norm_maps(a, Tensor::ones({channels}), Tensor::zeros({channels}), {}, &batch);
  for (size_t c = 0; c < channels; ++c) {
    long double mean = 0, variance = 0;
    const auto count = static_cast<long double>(a.rows());
    for (size_t r = 0; r < a.rows(); ++r) mean += static_cast<long double>(a[r * channels + c]) / count;
    for (size_t r = 0; r < a.rows(); ++r) {
      const long double distance = static_cast<long double>(a[r * channels + c]) - mean;
      variance += distance * distance / count;
    }
    CHECK(std::abs(static_cast<double>(static_cast<long double>(batch.variance[c]) / variance - 1)) <
          4 * ulp);
  }
}

TEST_CASE(
    "feature maps: the derivative of a number that is alone in its statistics is 0, not rounding error") {
  const size_t channels = 19;
  const Tensor gain = sample({channels}, 1, 0.3, 2), bias = sample({channels}, 2);
  const auto gradient = [&](const Shape& shape, const auto& norm) {
    Tensor a = leaf(shape, 3);
    Tape tape;
    tape.backward(norm(a), sample(shape, 4));
    return a.gradient();
  };
  const auto batch = [&](const Tensor& a) { return batch_norm_maps(a, gain, bias, {}); };
  const auto group = [&](const Tensor& a) { return group_norm(a, gain, bias, {.groups = channels}); };
  const auto twin = [&](const Tensor& a) {
    return composed::group_norm(a, gain, bias, {.groups = channels});
  };
  CHECK(identical(gradient({1, 1, 1, channels}, batch), Tensor::zeros({1, 1, 1, channels})));
  CHECK(identical(gradient({40, channels}, group), Tensor::zeros({40, channels})));
  CHECK(identical(gradient({40, channels}, twin), Tensor::zeros({40, channels})));
  // With this border only the middle of 3 x 3 enters the statistics, on which the whole map depends.
  const GroupNormOptions framed = {.groups = channels, .border = 1};
  const Tensor fused =
      gradient({2, 3, 3, channels}, [&](const Tensor& a) { return group_norm(a, gain, bias, framed); });
  const Tensor composed = gradient(
      {2, 3, 3, channels}, [&](const Tensor& a) { return composed::group_norm(a, gain, bias, framed); });
  CHECK(difference(fused, composed) < 20 * ulp);
}
