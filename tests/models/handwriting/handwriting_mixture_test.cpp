// The mixture likelihood: against numbers computed directly, its composed twin, and differences.

#include "models/handwriting/mixture.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;
namespace hw = lamina::handwriting;

namespace {

constexpr double pi = 3.14159265358979323846;

/// Points whose last number is 0 or 1.
Tensor some_points(size_t rows) {
  Tensor points = sample({rows, 3}, 5, -2, 2);
  for (size_t r = 0; r < rows; ++r) points[3 * r + 2] = static_cast<real>(r % 2);
  return points;
}

/// -log p by the formulas of Graves (2013), Eq. 23-26, in double.
double direct(const Tensor& output, const Tensor& target, size_t row, size_t m) {
  const auto out = [&](size_t k, size_t j) { return double(output[row * (6 * m + 1) + k * m + j]); };
  const double x = double(target[3 * row]), y = double(target[3 * row + 1]),
               end = double(target[3 * row + 2]);
  double weights = 0, density = 0;
  for (size_t j = 0; j < m; ++j) weights += std::exp(out(0, j));
  for (size_t j = 0; j < m; ++j) {
    const double sx = std::exp(out(3, j)), sy = std::exp(out(4, j));
    const double rho = double(hw::most_correlation) * std::tanh(out(5, j));
    const double zx = (x - out(1, j)) / sx, zy = (y - out(2, j)) / sy;
    const double z = zx * zx + zy * zy - 2 * rho * zx * zy;
    density += std::exp(out(0, j)) / weights * std::exp(-z / (2 * (1 - rho * rho))) /
               (2 * pi * sx * sy * std::sqrt(1 - rho * rho));
  }
  const double e = 1 / (1 + std::exp(-out(6, 0)));
  return -std::log(density) - std::log(end == 1 ? e : 1 - e);
}

}  // namespace

TEST_CASE("mixture: the likelihood is what a direct computation gives") {
  for (const size_t m : {size_t{1}, size_t{3}, size_t{20}}) {
    const Tensor output = sample({7, 6 * m + 1}, 1), target = some_points(7);
    const Tensor nll = hw::mixture_nll(output, target, Tensor::ones({7}));
    for (size_t r = 0; r < 7; ++r)
      CHECK(double(nll[r]) == doctest::Approx(direct(output, target, r, m)).epsilon(1e-5));
  }
}

TEST_CASE("mixture: no gradient for target and mask, and writes into them are found") {
  const Tensor output = leaf({5, 7}, 1);
  for (const bool learned : {false, true})
    for (const int written : {0, 1, 2}) {
      Tensor target = some_points(5), mask = Tensor::ones({5});
      if (learned) {
        target.require_gradient();
        mask.require_gradient();
      }
      Tape tape;
      const Tensor loss = sum(hw::mixture_nll(output, target, mask));
      if (written > 0) (written == 1 ? target : mask)[0] += 1;
      const std::string error = error_of([&] { tape.backward(loss); });
      CHECK(contains(error, "was written after it was recorded") == (written > 0));
      CHECK((target.gradient_data() == nullptr && mask.gradient_data() == nullptr));
    }
}

TEST_CASE("mixture: the fused op equals its composed twin") {
  for (const size_t m : {size_t{1}, size_t{4}, size_t{20}}) {
    const Tensor target = some_points(5);
    const Tensor mask = Tensor::from({5}, {1, 0, 1, 1, real(0.5)});
    check_twins([&](const auto& in) { return hw::mixture_nll(in[0], target, mask); },
                [&](const auto& in) { return hw::composed::mixture_nll(in[0], target, mask); },
                {sample({5, 6 * m + 1}, 2)}, twin_tolerance(200));
  }
}

TEST_CASE("mixture: gradients") {
  const Tensor target = some_points(4), mask = Tensor::from({4}, {1, 1, 0, 1});
  const Tensor output = leaf({4, 19}, 3);
  check_gradients({output}, [&] { return weighted(hw::mixture_nll(output, target, mask)); });
}

TEST_CASE("mixture: far points, sharp Gaussians and full correlation stay finite") {
  const Tensor output =
      Tensor::from({2, 7}, {0, 0, 0, -4, -4, 50, 100, 0, 0, 0, 3, 3, -50, -100}).require_gradient();
  const Tensor target = Tensor::from({2, 3}, {1, -1, 0, 30, 30, 1});
  Tape tape;
  const Tensor nll = hw::mixture_nll(output, target, Tensor::ones({2}));
  tape.backward(sum(nll));
  const Tensor gradient = output.gradient();
  for (const Tensor& values : {nll, gradient})
    CHECK(std::ranges::all_of(values.values(), [](real v) { return std::isfinite(v); }));
}

TEST_CASE("mixture: a masked row costs nothing and gets no gradient, even of NaN") {
  Tensor output = leaf({2, 7}, 4);
  for (size_t k = 0; k < 7; ++k) output[k] = std::numeric_limits<real>::quiet_NaN();
  Tape tape;
  const Tensor nll = hw::mixture_nll(output, some_points(2), Tensor::from({2}, {0, 1}));
  CHECK(nll[0] == 0);
  tape.backward(sum(nll));
  const Tensor gradient = output.gradient();
  for (size_t k = 0; k < 7; ++k) CHECK(gradient[k] == 0);
  CHECK(gradient[8] != 0);  // of the mean; the only weight has none
}

TEST_CASE("mixture: drawn points have the moments of the mixture, and a bias makes them neat") {
  // one Gaussian: mean (1, -2), deviations e^0.5 and e^-0.5, correlation 0.6, end with probability 1/4
  const real r = std::atanh(real(0.6) / hw::most_correlation), end = -std::log(real(3));
  const std::vector<real> output{0, 1, -2, real(0.5), real(-0.5), r, end};
  const auto moments = [&](real bias) {
    Random random(1);
    constexpr size_t count = 20000;
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0, ends = 0;
    for (size_t i = 0; i < count; ++i) {
      const hw::Point p = hw::draw_point(output.data(), 1, bias, random);
      const double dx = double(p.dx) - 1, dy = double(p.dy) + 2;
      x += dx, y += dy, xx += dx * dx, yy += dy * dy, xy += dx * dy, ends += double(p.end);
    }
    for (double* const sum : {&x, &y, &xx, &yy, &xy, &ends}) *sum /= count;
    return std::vector<double>{x, y, xx, yy, xy / std::sqrt(xx * yy), ends};
  };
  const auto plain = moments(0), neat = moments(2);
  const double wanted[] = {0, 0, std::exp(1), std::exp(-1), 0.6, 0.25};
  for (size_t k = 0; k < 6; ++k) CHECK(plain[k] == doctest::Approx(wanted[k]).epsilon(0.05));
  CHECK(neat[2] == doctest::Approx(std::exp(1 - 4)).epsilon(0.05).scale(0));
  CHECK(neat[3] == doctest::Approx(std::exp(-1 - 4)).epsilon(0.05).scale(0));
}

TEST_CASE("mixture: Gaussians are drawn by their weights, which a bias makes more unequal") {
  // two Gaussians at -9 and 9, the second one three times as likely
  const std::vector<real> output{0, std::log(real(3)), -9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const auto second = [&](real bias) {
    Random random(2);
    int count = 0;
    for (int i = 0; i < 10000; ++i) count += hw::draw_point(output.data(), 2, bias, random).dx > 0 ? 1 : 0;
    return count / 10000.0;
  };
  CHECK(second(0) == doctest::Approx(0.75).epsilon(0.02).scale(0));
  CHECK(second(1) == doctest::Approx(0.9).epsilon(0.01).scale(0));  // 9 to 1
}

TEST_CASE("mixture: wrong shapes are named") {
  const Tensor ones = Tensor::ones({2});
  CHECK_ERROR(hw::mixture_nll(Tensor::zeros({2, 12}), Tensor::zeros({2, 3}), ones),
              "mixture_nll: 12 outputs per row; 6 M + 1 are needed, with M from 1 to 64");
  CHECK_ERROR(
      hw::mixture_nll(Tensor::zeros({2, 13}), Tensor::zeros({3, 3}), ones),
      "mixture_nll: outputs [2 x 13], points [3 x 3] and mask [2]: as many points (of 3 numbers) and masks "
      "as rows of outputs are needed");
}
