// The measuring of the lab on sequences of unequal length, where the answer is known.

#include "models/lab/statistics/variable_length.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

TEST_CASE("leaky sums: targets follow the inputs, lengths lie where they should, few are long") {
  Random random(1);
  const LeakySums all = leaky_sums(30, 2000, 5, random);
  double squares = 0;
  for (size_t t = 0; t < 30; ++t)
    for (size_t b = 0; b < 2000; ++b) {
      const size_t i = t * 2000 + b;
      if (t > 0)
        CHECK(std::fabs(all.y[i] - (real(0.8) * all.y[i - 2000] + real(0.6) * all.input[2 * i])) < 1e-5);
      CHECK(all.input[2 * i + 1] == 1);
      if (t < 5) CHECK(all.mask[i] == 1);
      if (t > 0) CHECK(all.mask[i] <= all.mask[i - 2000]);
      squares += static_cast<double>(all.y[i] * all.y[i]) / 60000;
    }
  CHECK(squares == doctest::Approx(1).epsilon(0.03));
  const real last = sum(all.mask.step(29)).item() / 2000;
  CHECK(last == doctest::Approx(std::pow(0.85, 25)).epsilon(0.4).scale(0));
}

TEST_CASE("the error of a step is the mean over the cases that reach it") {
  LeakySums cases{Tensor::zeros({3, 2, 2}), Tensor::zeros({3, 2, 1}),
                  Tensor::from({3, 2}, {1, 1, 1, 0, 0, 0})};
  const std::vector<double> errors = error_by_step(Tensor::from({3, 2, 1}, {1, 3, 2, 9, 9, 9}), cases);
  CHECK(errors[0] == 5);  // (1 + 9) / 2
  CHECK(errors[1] == 4);
  CHECK(std::isnan(errors[2]));
}

TEST_CASE("the axis says that the error by batch statistics is a mean over batches, not over cases") {
  for (const LabChart& chart : variable_length().charts)
    if (chart.quantity == "error by batch statistics")
      CHECK(chart.y_label == "mean squared error, mean over batches");
}
