// Batch norm that leaves padded rows out.

#include "layers/norms/masked_batch_norm.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr size_t steps = 4, cases = 3, width = 19;

/// Cases of 4, 3 and 1 steps.
Tensor mask() { return Tensor::from({steps, cases}, {1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 0, 0}); }

struct Made {
  Parameters parameters{1};
  MaskedBatchNorm norm{parameters, "norm", {.features = width}};
};

/// The same layer with this gain and bias.
MaskedBatchNorm with(MaskedBatchNorm norm, const Tensor& gain, const Tensor& bias) {
  norm.gain = gain;
  norm.bias = bias;
  return norm;
}

}  // namespace

TEST_CASE("masked batch norm: gradients, and the composed twin") {
  const Made made;
  for (const Tensor& padding : {mask(), Tensor()}) {
    const std::vector<Tensor> inputs{sample({steps, cases, width}, 1, -2, 3), sample({width}, 2, 0.5, 1.5),
                                     sample({width}, 3)};
    check_twins([&](const auto& in) { return with(made.norm, in[1], in[2])(in[0], padding, Mode::train); },
                [&](const auto& in) { return composed::masked_batch_norm(in[0], padding, in[1], in[2]); },
                inputs, twin_tolerance(64));
    for (const Mode mode : {Mode::train, Mode::evaluate})
      check_gradients(
          inputs, [&] { return weighted(with(made.norm, inputs[1], inputs[2])(inputs[0], padding, mode)); },
          1e-4);
  }
}

TEST_CASE("masked batch norm: one and two threads") {
  const Made made;
  const Tensor padding = sample({300, 40}, 5, 0, 1);
  Tensor ones = padding.copy();
  for (real& value : ones.values()) value = value < real(0.7) ? 1 : 0;
  check_threads([&](const auto& in) { return with(made.norm, in[1], in[2])(in[0], ones, Mode::train); },
                {sample({300, 40, width}, 1), sample({width}, 2), sample({width}, 3)}, 64 * ulp);
}

TEST_CASE("masked batch norm: what stands in padded rows changes nothing, not even the population") {
  std::vector<std::vector<Tensor>> results;
  for (const real junk : {real(0), real(1000)}) {
    const Made made;
    Tensor a = sample({steps, cases, width}, 1);
    for (size_t r = 0; r < steps * cases; ++r)
      if (mask()[r] == 0) std::fill_n(a.data() + r * width, width, junk);
    a.require_gradient();
    Tape tape;
    const Tensor y = made.norm(a, mask(), Mode::train);
    tape.backward(weighted(y));
    results.push_back({y, a.gradient(), made.norm.population.mean.copy(),
                       made.norm.population.variance.copy(), made.norm(a, mask(), Mode::evaluate)});
  }
  for (size_t i = 0; i < results[0].size(); ++i) {
    CAPTURE(i);
    CHECK(identical(results[0][i], results[1][i]));
  }
  double largest = 0;
  for (const real mean : results[0][2].values())
    largest = std::max(largest, std::fabs(static_cast<double>(mean)));
  CHECK(largest > 0.01);  // it moved
}

TEST_CASE("masked batch norm: nothing but padding gives zeros, and the composed twin too") {
  const Made made;
  Tensor a = sample({4, width}, 1);
  a.require_gradient();
  for (const bool fused : {true, false}) {
    a.clear_gradient();
    Tape tape;
    const Tensor padding = Tensor::zeros({4});
    const Tensor y = fused ? made.norm(a, padding, Mode::train)
                           : composed::masked_batch_norm(a, padding, made.norm.gain, made.norm.bias);
    CHECK(identical(y, Tensor::zeros({4, width})));
    tape.backward(weighted(y));
    CHECK(identical(a.gradient(), Tensor::zeros({4, width})));
  }
  CHECK(identical(made.norm.population.mean, Tensor::zeros({1, width})));
}

TEST_CASE("masked batch norm: equal rows become exactly the bias, padded ones among them or not") {
  for (const size_t rows : {3u, 64u, 65u, 512u, 1000u})
    for (const bool padded : {false, true}) {
      CAPTURE(rows);
      const Made made;
      Tensor a({rows, width}), padding = Tensor::ones({rows});
      const Tensor row = sample({width}, 1, -3, 3);
      for (size_t i = 0; i < a.size(); ++i) a[i] = row[i % width];
      if (padded) padding[0] = padding[rows / 2] = 0;
      const Tensor y =
          with(made.norm, Tensor::ones({width}), Tensor::zeros({width}))(a, padding, Mode::train);
      CHECK(std::ranges::all_of(y.values(), [](real value) { return value == 0; }));
    }
}

TEST_CASE("masked batch norm: inputs far from zero keep their precision") {
  const size_t rows = 700;
  const Made made;
  const Tensor a = sample({rows, width}, 1, 999, 1001);
  const Tensor y = with(made.norm, Tensor::ones({width}), Tensor::zeros({width}))(a, {}, Mode::train);
  double worst = 0;
  for (size_t c = 0; c < width; ++c) {
    const auto at = [&](size_t r) { return static_cast<double>(a[r * width + c]); };
    double offset = 0, squares = 0;  // of a - 1000, which is exact
    for (size_t r = 0; r < rows; ++r) offset += (at(r) - 1000) / rows;
    for (size_t r = 0; r < rows; ++r) squares += (at(r) - 1000 - offset) * (at(r) - 1000 - offset) / rows;
    for (size_t r = 0; r < rows; ++r)
      worst = std::max(worst, std::fabs(static_cast<double>(y[r * width + c]) -
                                        (at(r) - 1000 - offset) / std::sqrt(squares + 1e-5)));
  }
  // The mean is a number near 1000, known to half a unit of its last place; the deviation is 0.58.
  CHECK(worst < 1000 * ulp);
}

TEST_CASE("masked batch norm: shapes that do not fit are named") {
  const Made made;
  CHECK_ERROR(made.norm(Tensor::zeros({2, 3}), {}, Mode::train),
              "masked_batch_norm: the input is [2 x 3]; one row of 19 at least is needed");
  CHECK_ERROR(made.norm(Tensor::zeros({2, 19}), Tensor::ones({3}), Mode::train),
              "masked_batch_norm: the mask [3] has not one number for each row of [2 x 19]");
}

TEST_CASE("masked batch norm: the derivative of a single live case is 0, not rounding error") {
  const Tensor gain = sample({width}, 1, 0.3, 2), bias = sample({width}, 2);
  Tensor mask = Tensor::zeros({6});
  mask[4] = 1;
  for (const bool composed_twin : {false, true}) {
    CAPTURE(composed_twin);
    const Made made;
    const MaskedBatchNorm norm = with(made.norm, gain, bias);
    Tensor a = leaf({6, width}, 3);
    Tape tape;
    const Tensor y =
        composed_twin ? composed::masked_batch_norm(a, mask, gain, bias) : norm(a, mask, Mode::train);
    tape.backward(weighted(y));
    CHECK(identical(a.gradient(), Tensor::zeros({6, width})));
  }
}

TEST_CASE("masked batch norm: a mask that was written before the backward pass is refused") {
  const Made made;
  Tensor padding = mask();
  Tape tape;
  const Tensor loss = weighted(made.norm(leaf({steps, cases, width}, 1), padding, Mode::train));
  padding[0] = 0;
  CHECK(contains(error_of([&] { tape.backward(loss); }), "was written after it was recorded"));
}
