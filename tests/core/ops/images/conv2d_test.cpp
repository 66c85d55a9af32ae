// Convolution: values by hand, gradients, its composed twin, threads, errors.

#include "core/ops/images/conv2d.h"

#include "layers/conv2d.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

struct Case {
  Shape images, weight;
  Conv2dGeometry geometry;
};

/// Sizes of 1, odd sizes, rectangular kernels, strides, padding up to more than the kernel.
const std::vector<Case> cases = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}, {}},
    {{2, 1, 1, 3}, {3, 3, 3, 2}, {.padding = 1}},
    {{1, 5, 7, 1}, {3, 3, 1, 2}, {.padding = 0}},
    {{2, 5, 4, 3}, {3, 2, 3, 5}, {.padding = 1}},
    {{3, 4, 4, 2}, {2, 2, 2, 3}, {.stride = 2, .padding = 2}},
    {{1, 7, 6, 2}, {3, 3, 2, 17}, {.stride = 2, .padding = 1}},
    {{2, 6, 5, 1}, {5, 5, 1, 1}, {.stride = 3, .padding = 3}},
    {{2, 3, 3, 2}, {1, 1, 2, 3}, {.stride = 2, .padding = 3}},
    {{1, 2, 9, 1}, {2, 9, 1, 4}, {}},
    {{2, 4, 3, 33}, {2, 3, 33, 35}, {.padding = 1}},
};

Layer fused(const Conv2dGeometry& geometry) {
  return [=](const std::vector<Tensor>& in) { return conv2d(in[0], in[1], in[2], geometry); };
}
Layer twin(const Conv2dGeometry& geometry) {
  return [=](const std::vector<Tensor>& in) { return composed::conv2d(in[0], in[1], in[2], geometry); };
}

std::vector<Tensor> inputs(const Case& c) {
  return {sample(c.images, 1), sample(c.weight, 2), sample({c.weight[3]}, 3)};
}

}  // namespace

TEST_CASE("conv2d: a 3 x 3 example by hand") {
  const Tensor x = Tensor::from({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor w = Tensor::from({2, 2, 1, 1}, {1, 2, 3, 4}), bias = Tensor::from({1}, {10});
  CHECK(difference(conv2d(x, w, bias), {1 + 4 + 12 + 20 + 10, 2 + 6 + 15 + 24 + 10, 4 + 10 + 21 + 32 + 10,
                                        5 + 12 + 24 + 36 + 10}) < 4 * ulp);
  // Padding 1, stride 2: windows begin at rows and columns -1 and 1.
  CHECK(difference(conv2d(x, w, {}, {.stride = 2, .padding = 1}), {4, 6 + 12, 8 + 28, 5 + 12 + 24 + 36}) <
        4 * ulp);
}

TEST_CASE("conv2d: fused equals composed, values and gradients") {
  for (const Case& c : cases) {
    CAPTURE(text(c.images, " ", c.weight, " stride ", c.geometry.stride, " padding ", c.geometry.padding));
    check_twins(fused(c.geometry), twin(c.geometry), inputs(c), twin_tolerance(64));
  }
}

TEST_CASE("conv2d: gradients") {
  for (const Case& c : cases) {
    CAPTURE(text(c.images, " ", c.weight));
    const std::vector<Tensor> in = inputs(c);
    if (in[1].size() > 1000) continue;  // differences would take long; the twin covers it
    check_gradients(in, [&] { return weighted(fused(c.geometry)(in)); });
    check_gradients({in[0], in[1]}, [&] { return weighted(conv2d(in[0], in[1], {}, c.geometry)); });
  }
}

TEST_CASE("conv2d: gradients are added to what is there, and each input alone may need its own") {
  const Case& c = cases[4];
  for (size_t needed = 0; needed < 3; ++needed) {
    std::vector<Tensor> in = inputs(c);
    in[needed].require_gradient();
    const Tensor once = [&] {
      Tape tape;
      tape.backward(weighted(fused(c.geometry)(in)));
      return in[needed].gradient();
    }();
    Tape tape;
    tape.backward(weighted(fused(c.geometry)(in)));
    CHECK(difference(in[needed].gradient(), once * 2) < 16 * ulp);
  }
}

TEST_CASE("conv2d: one and two threads agree, with fewer images than threads as well") {
  for (const size_t images : {1U, 2U, 5U}) {
    const Case c = {{images, 14, 14, 32}, {5, 5, 32, 64}, {.padding = 2}};
    check_threads(fused(c.geometry), inputs(c), 1000 * ulp);
  }
}

TEST_CASE("conv2d: no images, and NaN is not hidden") {
  const Tensor w = sample({3, 3, 2, 4}, 1);
  CHECK(conv2d(Tensor({0, 5, 5, 2}), w, {}).shape() == Shape{0, 3, 3, 4});
  Tensor x = Tensor::zeros({1, 5, 5, 2});
  x[0] = std::numeric_limits<real>::quiet_NaN();
  CHECK(std::isnan(conv2d(x, w, {})[0]));
}

TEST_CASE("conv2d: errors name the shapes") {
  const Tensor x = Tensor::zeros({2, 4, 5, 3});
  CHECK_ERROR(
      conv2d(x, Tensor::zeros({5, 5, 3, 8}), {}),
      "conv2d: the kernel 5 x 5 does not fit into images [2 x 4 x 5 x 3] with padding 0; it must be at "
      "least 1 x 1 and at most 4 x 5");
  CHECK_ERROR(conv2d(x, Tensor::zeros({3, 3, 4, 8}), {}),
              "conv2d: images [2 x 4 x 5 x 3] have 3 channels, the weight [3 x 3 x 4 x 8] is for 4" +
                  layout_hint({2, 4, 5, 3}, 4));
  for (const size_t negative : {size_t{0} - 1, size_t{1} << 63})  // these add up to a size that fits
    CHECK_ERROR(conv2d(x, Tensor::zeros({3, 3, 3, 8}), {}, {.padding = negative}),
                text("conv2d: a padding of ", negative,
                     " for images [2 x 4 x 5 x 3], most likely a negative number"));
  CHECK_ERROR(conv2d(x, Tensor::zeros({3, 3, 3, 8}), {}, {.stride = 0}),
              "conv2d: stride 0 for images [2 x 4 x 5 x 3] and weight [3 x 3 x 3 x 8]; it must be positive");
  CHECK_ERROR(conv2d(x, Tensor::zeros({3, 3, 3, 8}), Tensor::zeros({7})),
              "conv2d: the bias is [7], the weight [3 x 3 x 3 x 8] has 8 outputs");
  CHECK(contains(error_of([&] {
                   conv2d(Tensor::zeros({4, 5, 3}), Tensor::zeros({3, 3, 3, 8}), {});
                 }),
                 "images [4 x 5 x 3]"));
  Parameters parameters(1);
  CHECK_ERROR(Conv2d(parameters, "c", {.input = 3, .output = 4, .stride = 0}),
              "conv2d 'c': 3 to 4 channels, kernel 3, stride 0; all must be positive");
}

TEST_CASE("layouts: there and back, values and gradients") {
  const Tensor x = sample({2, 3, 4, 5}, 1);
  const Tensor y = channels_first(x);
  CHECK(y.shape() == Shape{2, 5, 3, 4});
  CHECK(y[(1 * 5 + 3) * 12 + 2 * 4 + 1] == x[(1 * 12 + 2 * 4 + 1) * 5 + 3]);
  CHECK(identical(channels_last(y), x));
  check_gradients({x}, [&] { return weighted(channels_first(x)); });
  check_gradients({x}, [&] { return weighted(channels_last(x)); });
}

TEST_CASE("conv2d: long sums are as accurate as short ones") {
  // A window of the whole image: every number of y is one sum over all taps.
  for (const size_t channels : {1u, 4u, 13u, 40u}) {
    CAPTURE(channels);
    constexpr size_t images = 40, size = 8, outputs = 40;
    const size_t taps = size * size * channels;
    const Tensor x = sample({images, size, size, channels}, 1);
    const Tensor weight = sample({size, size, channels, outputs}, 2), y = conv2d(x, weight, {});
    double worst = 0, squares = 0;
    for (size_t n = 0; n < images; ++n)
      for (size_t o = 0; o < outputs; ++o) {
        long double exact = 0;
        for (size_t tap = 0; tap < taps; ++tap)
          exact += static_cast<long double>(x[n * taps + tap]) *
                   static_cast<long double>(weight[tap * outputs + o]);
        worst = std::max(worst,
                         static_cast<double>(std::abs(static_cast<long double>(y[n * outputs + o]) - exact)));
        squares += static_cast<double>(exact * exact);
      }
    CHECK(worst < 12 * ulp * std::sqrt(squares / (images * outputs)));
  }
}
