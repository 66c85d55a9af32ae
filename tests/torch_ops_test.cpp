// Single ops that agree with PyTorch's, as recorded in tests/fixtures.

#include "core/ops.h"
#include "tests/check.h"
#include "tests/fixtures/torch_axis_fixtures.h"
#include "tests/fixtures/torch_elementwise_fixtures.h"

using namespace lamina;
using namespace lamina::test;

namespace torch {
using namespace lamina::test::torch_axis;
using namespace lamina::test::torch_elementwise;
}  // namespace torch

namespace {

using Numbers = std::vector<double>;
constexpr double tolerance = sizeof(real) == 8 ? 1e-12 : 2e-5;

Tensor wanted(const Shape& shape, const Numbers& values) {
  return Tensor::from(shape, std::vector<real>(values.begin(), values.end())).require_gradient();
}

void check_equal(const Tensor& ours, const Numbers& theirs) {
  const std::vector<real> expected(theirs.begin(), theirs.end());
  CHECK(difference(ours.values(), expected) < tolerance);
}

Tensor x() { return wanted({2, 3, 4}, torch::x); }
Tensor wide() { return wanted({2, 3, 4}, torch::wide); }
Tensor positive() { return wanted({2, 3, 4}, torch::positive); }

/// The value of op(a), and the gradient of the sum of its squares.
template <class Op>
void compare(const Op& op, const Tensor& a, const Numbers& value, const Numbers& da) {
  Tape tape;
  const Tensor y = op(a);
  check_equal(y, value);
  tape.backward(sum(square(y)));
  check_equal(a.gradient(), da);
}

/// The same for two operands.
template <class Op>
void compare(const Op& op, const Tensor& a, const Tensor& b, const Numbers& value, const Numbers& da,
             const Numbers& db) {
  compare([&](const Tensor& first) { return op(first, b); }, a, value, da);
  check_equal(b.gradient(), db);
}

}  // namespace

TEST_CASE("torch: operands of different shapes") {
  const auto middle = [] { return wanted({3, 1}, torch::middle); };
  const auto outer = [] { return wanted({2, 1, 1, 4}, torch::outer); };
  using Of = const Tensor&;
  compare([](Of a, Of b) { return a + b; }, x(), middle(), torch::add, torch::add_dx, torch::add_dmiddle);
  compare([](Of a, Of b) { return b - a; }, x(), middle(), torch::subtract, torch::subtract_dx,
          torch::subtract_dmiddle);
  compare([](Of a, Of b) { return a * b; }, x(), outer(), torch::multiply, torch::multiply_dx,
          torch::multiply_douter);
  compare([](Of a, Of b) { return a / b; }, x(), outer(), torch::divide, torch::divide_dx,
          torch::divide_douter);
  compare([](Of a, Of b) { return maximum(a, b - 1); }, x(), middle(), torch::maximum, torch::maximum_dx,
          torch::maximum_dmiddle);
  compare([](Of a, Of b) { return minimum(b - 1, a); }, x(), outer(), torch::minimum, torch::minimum_dx,
          torch::minimum_douter);
  Tensor mask = Tensor::zeros({2, 3, 4});
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = torch::x[i] > 0 ? 1 : 0;
  compare([&](Of a, Of b) { return where(mask, b, a); }, x(), middle(), torch::where, torch::where_dx,
          torch::where_dmiddle);
}

TEST_CASE("torch: functions of single elements") {
  using Of = const Tensor&;
  compare([](Of a) { return 3 / a; }, positive(), torch::number_over, torch::number_over_dpositive);
  compare([](Of a) { return pow(a, 2.5); }, positive(), torch::pow, torch::pow_dpositive);
  compare([](Of a) { return pow(a, 3); }, x(), torch::cube, torch::cube_dx);
  compare([](Of a) { return clamp(a, -0.5, 1); }, x(), torch::clamp, torch::clamp_dx);
  compare([](Of a) { return erf(a); }, wide(), torch::erf, torch::erf_dwide);
  compare([](Of a) { return gelu(a); }, wide(), torch::gelu, torch::gelu_dwide);
  compare([](Of a) { return gelu(a, {.tanh = true}); }, wide(), torch::gelu_tanh, torch::gelu_tanh_dwide);
  compare([](Of a) { return silu(a); }, wide(), torch::silu, torch::silu_dwide);
  compare([](Of a) { return softplus(a); }, wide(), torch::softplus, torch::softplus_dwide);
  compare([](Of a) { return leaky_relu(a, real(0.2)); }, x(), torch::leaky_relu, torch::leaky_relu_dx);
}

namespace {

/// The recorded results for one axis.
struct OverAxis {
  const Numbers &sum, &dsum, &mean, &dmean, &max, &dmax, &min, &dmin, &variance, &dvariance;
  const Numbers &softmax, &dsoftmax, &log_softmax, &dlog_softmax, &log_sum_exp, &dlog_sum_exp, &argmax;
};

#define OVER_AXIS(n)                                                                                      \
  {                                                                                                       \
    torch::sum_##n, torch::sum_##n##_dx, torch::mean_##n, torch::mean_##n##_dx, torch::max_##n,           \
        torch::max_##n##_dx, torch::min_##n, torch::min_##n##_dx, torch::variance_##n,                    \
        torch::variance_##n##_dx, torch::softmax_##n, torch::softmax_##n##_dwide, torch::log_softmax_##n, \
        torch::log_softmax_##n##_dwide, torch::log_sum_exp_##n, torch::log_sum_exp_##n##_dwide,           \
        torch::argmax_##n                                                                                 \
  }
const OverAxis over_axis[] = {OVER_AXIS(0), OVER_AXIS(1), OVER_AXIS(2)};
#undef OVER_AXIS

}  // namespace

TEST_CASE("torch: reductions over an axis") {
  using Of = const Tensor&;
  for (int axis = 0; axis < 3; ++axis) {
    const OverAxis& theirs = over_axis[axis];
    compare([=](Of a) { return sum(a, axis); }, x(), theirs.sum, theirs.dsum);
    compare([=](Of a) { return mean(a, axis); }, x(), theirs.mean, theirs.dmean);
    compare([=](Of a) { return max(a, axis); }, x(), theirs.max, theirs.dmax);
    compare([=](Of a) { return min(a, axis); }, x(), theirs.min, theirs.dmin);
    compare([=](Of a) { return variance(a, axis); }, x(), theirs.variance, theirs.dvariance);
    compare([=](Of a) { return softmax(a, axis); }, wide(), theirs.softmax, theirs.dsoftmax);
    compare([=](Of a) { return log_softmax(a, axis); }, wide(), theirs.log_softmax, theirs.dlog_softmax);
    compare([=](Of a) { return log_sum_exp(a, axis); }, wide(), theirs.log_sum_exp, theirs.dlog_sum_exp);
    CHECK(std::ranges::equal(argmax(x(), axis), theirs.argmax));
  }
}

TEST_CASE("torch: structure") {
  using Of = const Tensor&;
  const auto counted = [](const Shape& shape) {
    Tensor numbers(shape);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<real>(i);
    return numbers;
  };
  compare(
      [&](Of a) {
        return permute(a, {2, 0, 1}) * counted({4, 2, 3});
      },
      x(), torch::permute, torch::permute_dx);
  compare(
      [&](Of a) {
        return transpose(a) * counted({2, 4, 3});
      },
      x(), torch::transpose, torch::transpose_dx);
  compare(
      [](Of a, Of b) {
        return stack({a, b, a}, 1);
      },
      x(), positive(), torch::stack, torch::stack_dx, torch::stack_dpositive);
  compare([](Of a) { return pad(a, {{1, 0}, {0, 3}, {2, 1}}, real(0.5)); }, x(), torch::pad, torch::pad_dx);
}
