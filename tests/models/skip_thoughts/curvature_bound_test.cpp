#include "models/skip_thoughts/evaluation/curvature_bound.h"

#include <numeric>

#include "models/skip_thoughts/evaluation/regression.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::skip_thoughts;

namespace {

constexpr size_t cases = 40, features = 3, width = features + 1;

/// bound v, written out: 1/2 (I - 1 1^T / K) (x) X^T X / cases, and 1 / (C cases) on all but the biases.
std::vector<real> bound_times(const Tensor& x, size_t classes, double C, const std::vector<real>& v) {
  const double n = static_cast<double>(cases), K = static_cast<double>(classes);
  const auto with_one = [&](size_t row, size_t i) {
    return i == features ? 1 : static_cast<double>(x[row * features + i]);
  };
  std::vector<real> result(v.size());
  for (size_t k = 0; k + 1 < classes; ++k)
    for (size_t i = 0; i < width; ++i) {
      double sum = i == features ? 0 : static_cast<double>(v[k * width + i]) / (C * n);
      for (size_t l = 0; l + 1 < classes; ++l)
        for (size_t j = 0; j < width; ++j)
          for (size_t row = 0; row < cases; ++row)
            sum += 0.5 * ((k == l ? 1 : 0) - 1 / K) * with_one(row, i) * with_one(row, j) / n *
                   static_cast<double>(v[l * width + j]);
      result[k * width + i] = static_cast<real>(sum);
    }
  return result;
}

/// A matrix that counts how often a row is multiplied.
class Counted final : public Features {
 public:
  explicit Counted(const Tensor& values) : features_(values) {}
  size_t rows() const override { return features_.rows(); }
  size_t columns() const override { return features_.columns(); }
  real dot(size_t row, const real* w) const override {
    ++products;
    return features_.dot(row, w);
  }
  void add(size_t row, real factor, real* w) const override { features_.add(row, factor, w); }
  mutable size_t products = 0;

 private:
  DenseFeatures features_;
};

/// Columns of very different sizes, which is what makes L-BFGS slow without knowledge.
Tensor uneven(size_t rows, size_t columns) {
  Tensor x({rows, columns});
  Random(5).fill_normal(x.data(), x.size(), 0, 1);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] *= static_cast<real>(std::pow(0.7, static_cast<double>(i % columns)));
  return x;
}

}  // namespace

TEST_CASE("curvature bound: its inverse times itself is 1, of two classes and of five") {
  const Tensor x = sample({cases, features}, 3, -1, 2);
  for (const size_t classes : {2u, 5u}) {
    const Tensor v = sample({(classes - 1) * width}, 7);
    const std::vector<real> before(v.values().begin(), v.values().end());
    std::vector<real> now = bound_times(x, classes, 0.5, before);
    InverseCurvature(x, classes, 0.5)(now);
    CHECK(difference(now, before) < 5e3 * ulp);
  }
}

TEST_CASE("curvature bound: a regression comes to the same minimum with less than half of the products") {
  const Tensor x = uneven(200, 24);
  std::vector<int> labels, rows(x.rows());
  std::iota(rows.begin(), rows.end(), 0);
  for (size_t row = 0; row < x.rows(); ++row)
    labels.push_back(x[row * 24] + x[row * 24 + 7] * 10 + x[row * 24 + 13] * 40 > 0);
  for (const size_t classes : {2u, 3u}) {
    if (classes == 3)
      for (size_t row = 0; row < x.rows(); ++row) labels[row] += labels[row] == 1 && x[row * 24 + 1] > 0;
    const Labels wanted = hard_labels(labels, classes);
    const Counted plain(x), informed(x);
    const Regression without = fit(plain, wanted, rows, 64);
    const Regression with = fit(informed, wanted, rows, 64, {}, InverseCurvature(x, classes, 64));
    CHECK(informed.products * 2 < plain.products);
    for (size_t row = 0; row < x.rows(); ++row)
      CHECK(with.probabilities(plain, row)[1] ==
            doctest::Approx(without.probabilities(plain, row)[1]).epsilon(0.02));
  }
}

TEST_CASE("curvature bound: features that are no numbers are refused") {
  const Tensor x = Tensor::full({4, 2}, std::numeric_limits<double>::quiet_NaN());
  CHECK_THROWS_AS(InverseCurvature(x, 2, 1), Error);
}
