// The adding problem, and what is measured of a model that learns it, where the answer is known.

#include "models/lab/adding.h"

#include <cmath>

#include "core/error.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

TEST_CASE("adding: two marks, one in each half, whose numbers add up to the target") {
  for (const size_t steps : {size_t{2}, size_t{7}, size_t{50}}) {
    Random random(1);
    const AddingCases all = adding_cases(steps, 300, random);
    for (size_t b = 0; b < 300; ++b) {
      real total = 0, first = 0, second = 0;
      for (size_t t = 0; t < steps; ++t) {
        const real number = all.x[(t * 300 + b) * 2], mark = all.x[(t * 300 + b) * 2 + 1];
        CHECK(number >= 0);
        CHECK(number < 1);
        (t < steps / 2 ? first : second) += mark;
        total += number * mark;
      }
      CHECK(first == 1);
      CHECK(second == 1);
      CHECK(all.y[b] == doctest::Approx(total).epsilon(1e-6));
    }
  }
  Random random(1);
  CHECK_THROWS_AS(adding_cases(1, 3, random), Error);
}

TEST_CASE("adding: always answering 1 has the error of guessing") {
  Random random(2);
  const AddingCases all = adding_cases(10, 20000, random);
  const auto error = static_cast<double>(mean_squared_error(Tensor::ones(all.y.shape()), all.y).item());
  CHECK(std::fabs(error / error_of_guessing - 1) < 0.03);
}

TEST_CASE("adding: gradient lengths are the same each time, and leave no gradient behind") {
  Random random(3);
  const AddingCases cases = adding_cases(6, 4, random);
  AddingModel model({.hidden = 8, .steps = 6}, 1), same({.hidden = 8, .steps = 6}, 1);
  const std::vector<double> lengths = model.gradient_lengths(cases);
  CHECK(lengths.size() == 6);
  for (const double length : lengths) CHECK(length > 0);
  CHECK(model.gradient_lengths(cases) == lengths);
  model.train_step();
  same.train_step();
  CHECK(model.error(cases) == same.error(cases));
}

TEST_CASE("adding: gradients are as long as the answer is wrong, at every step") {
  for (const bool lstm : {false, true})
    for (const Norm norm : {Norm::none, Norm::layer}) {
      Random random(5);
      AddingModel model({.lstm = lstm, .norm = norm, .hidden = 8, .steps = 6}, 1);
      const AddingCases one = adding_cases(6, 1, random), other = {one.x, one.y + real(3)};
      const double ratio = std::sqrt(model.error(other) / model.error(one));
      CHECK(ratio > 1.5);
      const std::vector<double> lengths = model.gradient_lengths(one), longer = model.gradient_lengths(other);
      for (size_t t = 0; t < 6; ++t) CHECK(longer[t] == doctest::Approx(ratio * lengths[t]).epsilon(1e-4));
    }
}

TEST_CASE("adding: a model learns two steps") {
  Random random(4);
  const AddingCases test = adding_cases(2, 200, random);
  AddingModel model(
      {.lstm = true, .norm = Norm::layer, .hidden = 16, .steps = 2, .learning_rate = real(0.01)}, 1);
  for (int i = 0; i < 300; ++i) model.train_step();
  CHECK(model.error(test) < error_of_guessing / 10);
}
