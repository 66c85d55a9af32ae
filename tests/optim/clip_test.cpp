// Gradient clipping.

#include "optim/clip.h"

#include <algorithm>
#include <limits>

#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// Two parameters whose gradients are the given numbers.
struct Model {
  Parameters parameters{1};
  Tensor a = parameters.add("a", Tensor::zeros({2})), b = parameters.add("b", Tensor::zeros({1}));
  Model(double first, double second, double third) {
    Tape tape;
    const auto at = [](double v) { return static_cast<real>(v); };
    tape.backward(sum(a * Tensor::from({2}, {at(first), at(second)})) + b * at(third));
  }
};

}  // namespace

TEST_CASE("clip: all gradients by one factor") {
  Model model(3, 4, 12);
  CHECK(gradient_norm(model.parameters) == 13);
  CHECK(clip_gradient_norm(model.parameters, real(6.5)) == 13);
  CHECK(difference(model.a.gradient(), {1.5, 2}) < ulp);
  CHECK(difference(model.b.gradient(), {6}) < ulp);
  CHECK(clip_gradient_norm(model.parameters, 100) == real(6.5));  // below the limit: nothing changes
  CHECK(difference(model.b.gradient(), {6}) < ulp);
}

TEST_CASE("clip: each parameter by itself") {
  Model model(3, 4, 12);
  clip_each_gradient_norm(model.parameters, 6);
  CHECK(difference(model.a.gradient(), {3, 4}) == 0);
  CHECK(difference(model.b.gradient(), {6}) < ulp);
}

TEST_CASE("clip: the columns on either side of a seam") {
  // [gates | candidate] as one tensor, and as two: the norms of the parts are 5 and 13.
  Parameters parameters(1);
  Tensor both = parameters.add("both", Tensor::zeros({2, 3})),
         other = parameters.add("other", Tensor::zeros({1}));
  {
    Tape tape;
    tape.backward(sum(both * Tensor::from({2, 3}, {3, 0, 5, 0, 4, 12})) + other * real(7));
  }
  const auto seam = [](const std::string& name) { return size_t{name == "both" ? 2u : 0u}; };
  clip_each_gradient_norm(parameters, real(6.5), seam);
  CHECK(difference(both.gradient(), {3, 0, 2.5, 0, 4, 6}) < ulp);
  CHECK(difference(other.gradient(), {6.5}) < ulp);
  clip_each_gradient_norm(parameters, real(2.5), seam);
  CHECK(difference(both.gradient(), {1.5, 0, 2.5 * 5 / 13, 0, 2, 2.5 * 12 / 13}) < 2 * ulp);
  CHECK_ERROR(clip_each_gradient_norm(parameters, 1, [](const std::string&) { return size_t{3}; }),
              "clip: a seam at column 3 of 'both', which has 3");
}

TEST_CASE("clip: no gradients at all; NaN and infinity are refused before they spread; so is a bad limit") {
  Model model(3, 4, 12);
  model.parameters.clear_gradients();
  CHECK(clip_gradient_norm(model.parameters, 1) == 0);
  for (const double spoilt :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Model broken(3, spoilt, 12);
    const std::string error = text("clip: the gradient of 'a' has a value of ", spoilt,
                                   "; lower the learning rate, or look for such values in the data");
    CHECK_ERROR(clip_gradient_norm(broken.parameters, 1), error);
    CHECK_ERROR(clip_each_gradient_norm(broken.parameters, 1), error);
    CHECK(difference(broken.b.gradient(), {12}) == 0);
    Model late(3, 4, spoilt);
    CHECK(contains(error_of([&] { clip_each_gradient_norm(late.parameters, 1); }), "the gradient of 'b'"));
    CHECK(difference(late.a.gradient(), {3, 4}) == 0);
  }
  CHECK_ERROR(clip_gradient_norm(model.parameters, 0), "clip: the limit is 0; it must be positive");
  CHECK_ERROR(clip_each_gradient_norm(model.parameters, -1), "clip: the limit is -1; it must be positive");
}

TEST_CASE("clip: finite gradients are scaled rightly, however large or small") {
  // sqrt(100) times the value of each is the norm; in float it overflows for the largest.
  for (const double value : {3e38, 1e30, 1e19, 1e-19, 1e-30, 1e-34})
    for (const bool each : {false, true}) {
      CAPTURE(value);
      Parameters parameters(1);
      Tensor x = parameters.add("x", Tensor::zeros({100}));
      {
        Tape tape;
        tape.backward(sum(x * Tensor::full({100}, static_cast<real>(value))));
      }
      if (value < 1e38)
        CHECK(std::fabs(static_cast<double>(gradient_norm(parameters)) / (10 * value) - 1) < 8 * ulp);
      const auto limit = static_cast<real>(value / 100);
      if (each)
        clip_each_gradient_norm(parameters, limit);
      else
        clip_gradient_norm(parameters, limit);
      const Tensor clipped = x.gradient();
      for (const real g : clipped.values())
        CHECK(std::fabs(static_cast<double>(g) / (value / 1000) - 1) < 8 * ulp);
    }
}

TEST_CASE("clip: gradients whose norm no double can hold stay as they are" *
          doctest::skip(sizeof(real) < sizeof(double))) {
  Parameters parameters(1);
  Tensor x = parameters.add("x", Tensor::zeros({100}));
  {
    Tape tape;
    tape.backward(sum(x * Tensor::full({100}, static_cast<real>(1e308))));
  }
  const std::string error = "clip: the gradients' norm is beyond";
  CHECK(contains(error_of([&] { clip_gradient_norm(parameters, 1); }), error));
  CHECK(contains(error_of([&] { clip_each_gradient_norm(parameters, 1); }), error));
  CHECK(x.gradient()[0] == static_cast<real>(1e308));
}

TEST_CASE("clip: a limit of 1 for gradients whose norm no float can hold") {
  Parameters parameters(1);
  Tensor x = parameters.add("x", Tensor::zeros({100}));
  {
    Tape tape;
    tape.backward(sum(x * Tensor::full({100}, real(3e38))));
  }
  clip_gradient_norm(parameters, 1);
  CHECK(difference(x.gradient(), Tensor::full({100}, real(0.1))) < 8 * ulp);
}

TEST_CASE("clip: the norm of many values is the same for every number of threads") {
  Parameters parameters(1);
  Tensor x = parameters.add("x", Tensor::zeros({300000}));
  const Tensor gradient = sample({300000}, 1);
  {
    Tape tape;
    tape.backward(sum(x * gradient));
  }
  long double exact = 0;
  for (const real v : gradient.values()) exact += static_cast<long double>(v) * static_cast<long double>(v);
  set_threads(1);
  const real norm = gradient_norm(parameters);
  CHECK(std::fabs(static_cast<double>(norm) / std::sqrt(static_cast<double>(exact)) - 1) < 100 * ulp);
  set_threads(2);
  CHECK(gradient_norm(parameters) == norm);
  set_threads(0);
}

TEST_CASE("clipping: the common norm of several models") {
  Parameters first(1), second(1), third(1);
  const Tensor a = first.add("a", Tensor::from({2}, {3, 0})), b = second.add("b", Tensor::from({1}, {4})),
               c = third.add("c", Tensor::from({1}, {12}));
  const auto back = [&] {
    for (Parameters* const each : {&first, &second, &third}) each->clear_gradients();
    Tape tape;
    tape.backward((sum(square(a)) + sum(square(b)) + sum(square(c))) / real(2));
  };
  back();
  CHECK(clip_gradient_norm({first, second, third}, 26) == 13);
  CHECK(difference(a.gradient(), {3, 0}) == 0);
  CHECK(clip_gradient_norm({first, second, third}, real(6.5)) == 13);
  CHECK(difference(a.gradient(), {1.5, 0}) < ulp);
  CHECK(difference(b.gradient(), {2}) < ulp);
  CHECK(difference(c.gradient(), {6}) < ulp);
  back();
  CHECK(clip_gradient_norm({first, second}, 1, 2) == 10);
  CHECK(difference(b.gradient(), {0.8}) < ulp);
  CHECK(difference(c.gradient(), {12}) == 0);
  CHECK(clip_gradient_norm({third}, 100) == 12);
  CHECK_ERROR(clip_gradient_norm({first, second, first}, 1),
              "clip: the same parameters are named twice, and would be scaled twice; name each once");
  second.gradients()[0] = std::numeric_limits<real>::quiet_NaN();
  const Tensor before = a.gradient();
  CHECK(contains(error_of([&] {
                   clip_gradient_norm({first, second}, real(0.1));
                 }),
                 "the gradient of 'b' has a value"));
  CHECK(identical(a.gradient(), before));
}

TEST_CASE("clip: a factor that is negative or not finite is refused before anything is scaled") {
  Parameters parameters(1);
  parameters.add("a", Tensor::ones({3}));
  std::ranges::fill(parameters.gradients(), real(2));
  for (const real times :
       {real(-1), std::numeric_limits<real>::infinity(), std::numeric_limits<real>::quiet_NaN()})
    CHECK(contains(error_of([&] { clip_gradient_norm(parameters, 1, times); }),
                   "a finite number from 0 on is needed"));
  CHECK(parameters.gradients()[0] == 2);
}
