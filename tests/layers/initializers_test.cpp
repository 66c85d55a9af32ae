// Moments and bounds of the initial values.

#include "layers/initializers.h"

#include "layers/conv2d.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/recurrent/recurrent.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

struct Moments {
  double mean = 0, variance = 0, low = 0, high = 0;
  explicit Moments(const Tensor& x) {
    const auto count = static_cast<double>(x.size());
    for (const real v : x.values()) {
      mean += static_cast<double>(v) / count;
      low = std::min(low, static_cast<double>(v));
      high = std::max(high, static_cast<double>(v));
    }
    for (const real v : x.values()) variance += std::pow(static_cast<double>(v) - mean, 2) / count;
  }
};

/// Mean 0 and this variance, within five standard errors for the number of samples.
void check_moments(const Initializer& initial, const Shape& shape, double variance) {
  const Moments m(initial(shape, Random(3)));
  const auto count = static_cast<double>(shape.size());
  CHECK(std::fabs(m.mean) < 5 * std::sqrt(variance / count));
  CHECK(std::fabs(m.variance / variance - 1) < 5 * std::sqrt(2 / count));
}

void check_orthonormal(const Tensor& q, double scale) {
  const size_t rows = q.rows(), columns = q.columns(), size = std::min(rows, columns);
  const bool by_row = rows <= columns;
  const Tensor product = matmul(
      q, q, {.a = by_row ? Transpose::no : Transpose::yes, .b = by_row ? Transpose::yes : Transpose::no});
  Tensor expected = Tensor::zeros({size, size});
  for (size_t i = 0; i < size; ++i) expected[i * size + i] = static_cast<real>(scale * scale);
  CHECK(difference(product, expected) < 32 * ulp);
}

}  // namespace

TEST_CASE("initializers: moments") {
  const Shape shape{400, 100};
  check_moments(normal(real(0.2)), shape, 0.04);
  check_moments(xavier(), shape, 2.0 / 500);
  check_moments(he(), shape, 2.0 / 400);
  check_moments(uniform(real(0.3)), shape, 0.09 / 3);
  check_moments(he(), {3, 5, 20, 100}, 2.0 / 300);  // all axes but the last are inputs
  CHECK(identical(constant(real(0.5))(shape, Random(1)), Tensor::full(shape, real(0.5))));
}

TEST_CASE("initializers: the uniform stays within its bound and fills it") {
  const Moments m(uniform(real(0.3))({400, 100}, Random(3)));
  CHECK(m.low >= -0.3 - ulp);
  CHECK(m.high <= 0.3 + ulp);
  CHECK(m.low < -0.299);
  CHECK(m.high > 0.299);
}

TEST_CASE("initializers: the same generator gives the same values") {
  for (const Initializer& initial : {normal(1), uniform(1), xavier(), he(), orthogonal()}) {
    CHECK(identical(initial({5, 7}, Random(1, 2)), initial({5, 7}, Random(1, 2))));
    CHECK(!identical(initial({5, 7}, Random(1, 2)), initial({5, 7}, Random(1, 3))));
  }
}

TEST_CASE("initializers: orthogonal, for wide, tall and square") {
  for (const Shape& shape : {Shape{20, 50}, Shape{50, 20}, Shape{64, 64}, Shape{1, 7}, Shape{7, 1},
                             Shape{1, 1}, Shape{33, 200}, Shape{129, 97}})
    for (const double scale : {1.0, 1.5})
      check_orthonormal(orthogonal(static_cast<real>(scale))(shape, Random(5)), scale);
  check_orthonormal(orthogonal()({2, 3, 4}, Random(5)).reshape({6, 4}), 1);
}

TEST_CASE("initializers: one whose result has another shape is refused, and the parameter named") {
  const Initializer wrong =
                        [](const Shape&, const Random&) {
                          return Tensor::zeros({2, 1});
                        },
                    none = [](const Shape&, const Random&) { return Tensor(); };
  const auto error = [](const std::string& parameter, const std::string& needed) {
    return "initializer of '" + parameter + "': its result is [2 x 1]; it must be " + needed +
           ", the shape that it was called with";
  };
  Parameters parameters(1);
  CHECK_ERROR(Embedding(parameters, "words", {.entries = 5, .width = 1, .initial = wrong}),
              error("words", "[5 x 1]"));
  CHECK_ERROR(Linear(parameters, "linear", {.input = 3, .output = 4, .initial = wrong}),
              error("linear.weight", "[3 x 4]"));
  CHECK_ERROR(Conv2d(parameters, "conv", {.input = 3, .output = 4, .initial = wrong}),
              error("conv.weight", "[3 x 3 x 3 x 4]"));
  CHECK_ERROR(Gru(parameters, "one", {.input = 3, .hidden = 4, .input_initial = wrong}),
              error("one.input_weight", "[3 x 12]"));
  CHECK_ERROR(Gru(parameters, "two", {.input = 3, .hidden = 4, .hidden_initial = wrong}),
              error("two.hidden_weight", "[4 x 4]"));
  CHECK(contains(error_of([&] { Linear(parameters, "none", {.input = 3, .output = 4, .initial = none}); }),
                 "initializer of 'none.weight': its result is [an empty handle]"));
}
