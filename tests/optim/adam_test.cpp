// Adam, by hand and over many parameters.

#include "optim/adam.h"

#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

void descend(Tensor& w, Adam& adam, double gradient) {
  Tape tape;
  tape.backward(sum(w * static_cast<real>(gradient)));
  adam.step();
}

}  // namespace

TEST_CASE("adam: the first two steps by hand") {
  Parameters parameters(1);
  Tensor w = parameters.add("w", Tensor::ones({1}));
  Adam adam(parameters,
            {.learning_rate = real(0.1), .beta1 = real(0.5), .beta2 = real(0.75), .epsilon = real(0.5)});

  // g = 2: m = 1, v = 1; corrected by 1 - 0.5 and 1 - 0.75: 2 and 4. Step 0.1 * 2 / (2 + 0.5).
  descend(w, adam, 2);
  CHECK(std::fabs(static_cast<double>(w.item()) - (1 - 0.08)) < 2 * ulp);
  CHECK(adam.first_moment[0] == 1);
  CHECK(adam.second_moment[0] == 1);
  CHECK(w.gradient_data() == nullptr);

  // g = -1: m = 0.5 - 0.5 = 0, v = 0.75 + 0.25 = 1: no step at all.
  descend(w, adam, -1);
  CHECK(std::fabs(static_cast<double>(w.item()) - 0.92) < 2 * ulp);
  CHECK(adam.second_moment[0] == 1);

  // g = 3: m = 1.5, v = 0.75 + 2.25 = 3; corrected by 7/8 and 37/64.
  descend(w, adam, 3);
  const double step = 0.1 * (1.5 / 0.875) / (std::sqrt(3 * 64.0 / 37) + 0.5);
  CHECK(std::fabs(static_cast<double>(w.item()) - (0.92 - step)) < 4 * ulp);
  CHECK(adam.steps == 3);
}

TEST_CASE("adam: the authors' bias correction, six steps by its formula") {
  const std::vector<double> slopes{2, -1, 3, 0.5, -0.25, 1};
  const double b1 = 0.1, b2 = 0.001, rate = 0.01, epsilon = 1e-8;  // as in the public code: 1 - beta
  Parameters parameters(1);
  Tensor w = parameters.add("w", Tensor::ones({1}));
  Adam authors(parameters, {.learning_rate = real(0.01), .bias_correction = BiasCorrection::complements});
  double expected = 1, m = 0, v = 0;
  for (size_t t = 1; t <= slopes.size(); ++t) {
    const double g = slopes[t - 1], steps = static_cast<double>(t);
    m = b1 * g + (1 - b1) * m;
    v = b2 * g * g + (1 - b2) * v;
    expected -=
        rate * std::sqrt(1 - std::pow(b2, steps)) / (1 - std::pow(b1, steps)) * m / (std::sqrt(v) + epsilon);
    descend(w, authors, g);
    // 1 - 0.999 in float has a relative error of 1.3e-5, which gives a step of 0.03 half as large a one.
    CHECK(std::fabs(static_cast<double>(w.item()) - expected) < 16 * ulp);
  }
}

TEST_CASE("adam: epsilon joins sqrt(v) as it is under the authors' correction") {
  Parameters parameters(1);
  Tensor w = parameters.add("w", Tensor::ones({1}));
  Adam authors(parameters, {.learning_rate = real(0.1),
                            .beta1 = real(0.5),
                            .beta2 = real(0.75),
                            .epsilon = real(0.5),
                            .bias_correction = BiasCorrection::complements});
  // g = 2: m = 1, v = 1; the rate is 0.1 sqrt(1 - 0.25) / (1 - 0.5).
  descend(w, authors, 2);
  CHECK(std::fabs(static_cast<double>(w.item()) - (1 - 0.2 * std::sqrt(0.75) / 1.5)) < 2 * ulp);
  // g = -1: m = 0, no step; then g = 3: m = 1.5, v = 3, the rate 0.1 sqrt(1 - 0.25^3) / (1 - 0.5^3).
  descend(w, authors, -1);
  const double before = static_cast<double>(w.item());
  descend(w, authors, 3);
  const double step = 0.1 * std::sqrt(1 - 1.0 / 64) / 0.875 * 1.5 / (std::sqrt(3.0) + 0.5);
  CHECK(std::fabs(static_cast<double>(w.item()) - (before - step)) < 4 * ulp);
}

TEST_CASE("adam: how much larger the authors' steps are") {
  // For a constant gradient the moments cancel: the ratio of the two rates remains.
  const auto path = [](BiasCorrection correction) {
    Parameters parameters(1);
    Tensor w = parameters.add("w", Tensor::zeros({1}));
    Adam adam(parameters, {.learning_rate = 1, .bias_correction = correction});
    std::vector<double> steps;
    for (int t = 0; t < 1000; ++t) {
      w.data()[0] = 0;
      descend(w, adam, 1);
      steps.push_back(-static_cast<double>(w.item()));
    }
    return steps;
  };
  const auto usual = path(BiasCorrection::betas), authors = path(BiasCorrection::complements);
  CHECK(authors[0] / usual[0] == doctest::Approx(3.51).epsilon(2e-3));
  CHECK(authors[11] / usual[11] == doctest::Approx(6.57).epsilon(2e-3));
  CHECK(authors[999] / usual[999] == doctest::Approx(1.258).epsilon(2e-3));
}

TEST_CASE("adam: the first step has the size of the learning rate, whatever the gradient's scale") {
  for (const double scale : {1e-3, 1.0, 1e6}) {
    Parameters parameters(1);
    Tensor w = parameters.add("w", Tensor::zeros({1}));
    Adam adam(parameters, {.learning_rate = real(0.01)});
    descend(w, adam, -scale);
    CHECK(std::fabs(static_cast<double>(w.item()) / 0.01 - 1) < 1.1e-8 / scale + 8 * ulp);
  }
}

TEST_CASE("adam: decoupled decay shrinks weights without touching the moments") {
  Parameters parameters(1);
  Tensor w = parameters.add("w", Tensor::ones({3}));
  Adam adam(parameters, {.learning_rate = real(0.1), .weight_decay = real(0.5)});
  for (int step = 0; step < 2; ++step) {
    (void)parameters.gradients();  // zeros: only the decay
    adam.step();
  }
  CHECK(difference(w, {0.9025, 0.9025, 0.9025}) < 2 * ulp);
  CHECK(adam.first_moment[0] == 0);
}

TEST_CASE("adam: a decay smaller than the rounding of a weight is not lost among steps that are larger") {
  constexpr int steps = 500;
  const auto mean_after = [](double decay) {
    Parameters parameters(1);
    const Tensor w = parameters.add("w", Tensor::full({1000}, real(0.75)));
    Adam adam(parameters, {.learning_rate = real(1e-6), .weight_decay = static_cast<real>(decay)});
    Random random(2);
    for (int step = 0; step < steps; ++step) {
      for (real& g : parameters.gradients()) g = random.normal();
      adam.step();
    }
    double mean = 0;
    for (size_t i = 0; i < w.size(); ++i) mean += static_cast<double>(w[i]) / 1000;
    return mean;
  };
  CHECK(mean_after(0) - mean_after(0.01) ==
        doctest::Approx(0.75 * (1 - std::pow(1 - 1e-8, steps))).epsilon(0.03).scale(0));
}

TEST_CASE("adam: the learning rate may change between steps") {
  Parameters parameters(1);
  Tensor w = parameters.add("w", Tensor::ones({1}));
  Adam adam(parameters, {});
  adam.options.learning_rate = 0;
  descend(w, adam, 1);
  CHECK(w.item() == 1);
}

TEST_CASE("adam: bit-identical for every number of threads") {
  const auto run = [](int count) {
    set_threads(count);
    Parameters parameters(1);
    Tensor w = parameters.add("w", sample({50001}, 1));
    Adam adam(parameters, {.weight_decay = real(0.01)});
    for (int step = 0; step < 3; ++step) {
      Tape tape;
      tape.backward(sum(square(w)));
      adam.step();
    }
    set_threads(0);
    return w;
  };
  CHECK(identical(run(1), run(2)));
}

TEST_CASE("adam: bad options are refused, and a model that grew") {
  Parameters parameters(1);
  parameters.add("w", Tensor::ones({1}));
  CHECK_ERROR(Adam(parameters, {.learning_rate = -1}), "adam: learning rate -1; it must be positive");
  CHECK_ERROR(Adam(parameters, {.beta1 = 1}), "adam: beta 1; it must be at least 0 and below 1");
  CHECK_ERROR(Adam(parameters, {.beta2 = -1}), "adam: beta -1; it must be at least 0 and below 1");
  CHECK_ERROR(Adam(parameters, {.beta1 = 0, .bias_correction = BiasCorrection::complements}),
              "adam: beta 0; it must be above 0 and below 1");
  CHECK_ERROR(Adam(parameters, {.epsilon = 0}), "adam: epsilon 0; it must be positive");
  Adam adam(parameters, {});
  parameters.add("later", Tensor::ones({1}));
  CHECK_ERROR(adam.step(),
              "adam: the model grew after its optimizer was made; make the optimizer when all layers exist");
}

/// A first step is as long as the learning rate, whatever the gradient: m and v are corrected by the number of steps in which
/// they were updated, not by that of all steps.
TEST_CASE("adam: the first step of what was frozen before is that of a new optimizer") {
  Parameters parameters(1);
  const Tensor a = parameters.add("a", Tensor::ones({3})), b = parameters.add("b", Tensor::ones({3}));
  Adam adam(parameters, {.learning_rate = real(0.25)});
  const auto step = [&] {
    Tape tape;
    tape.backward(sum(a) + sum(b));
    adam.step();
  };
  parameters.freeze("b");
  step();
  step();
  CHECK(adam.missed == std::vector<std::uint64_t>{0, 2});
  CHECK(b[0] == 1);
  parameters.thaw("b");
  step();
  CHECK(static_cast<double>(b[0]) == doctest::Approx(0.75));
  CHECK(static_cast<double>(a[0]) == doctest::Approx(1 - 3 * 0.25));
}
