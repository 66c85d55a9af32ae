#include "models/skip_thoughts/evaluation/early_stopping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "layers/initializers.h"
#include "optim/adam.h"

namespace lamina::skip_thoughts {

namespace {

/// Logits s_k = w_k . x + b_k with separate weights for every class.
class Softmax {
 public:
  Softmax(const Features& x, const Labels& labels, const EarlyStopping& options)
      : x_(x),
        labels_(labels),
        parameters_(options.seed),
        weight_(parameters_.add(
            "weight", xavier_uniform()({labels.classes, x.columns()}, parameters_.random("weight")))),
        bias_(parameters_.add("bias", Tensor::zeros({labels.classes}))),
        adam_(parameters_, {.learning_rate = options.learning_rate}) {}

  /// One step on the mean cross-entropy of these cases.
  void step(std::span<const int> rows) {
    real *const dw = cleared(weight_), *const db = cleared(bias_);
    std::vector<double> p(labels_.classes);
    for (const int index : rows) {
      const auto row = static_cast<size_t>(index);
      probabilities(row, p);
      for (size_t k = 0; k < p.size(); ++k) {
        const auto label = static_cast<double>(labels_.shares[row * p.size() + k]);
        const auto ds = static_cast<real>((p[k] - label) / static_cast<double>(rows.size()));
        x_.add(row, ds, dw + k * x_.columns());
        db[k] += ds;
      }
    }
    adam_.step();
  }

  /// The same probabilities from scores of which the first is 0.
  Regression regression() const {
    const size_t width = x_.columns();
    Regression result{.classes = labels_.classes, .weights = {}};
    for (size_t k = 1; k < labels_.classes; ++k) {
      for (size_t i = 0; i < width; ++i) result.weights.push_back(weight_[k * width + i] - weight_[i]);
      result.weights.push_back(bias_[k] - bias_[0]);
    }
    return result;
  }

 private:
  static real* cleared(const Tensor& parameter) {
    const GradientSink sink = parameter.gradient_sink();
    std::fill_n(sink.values, parameter.size(), real{0});
    return sink.values;
  }

  void probabilities(size_t row, std::vector<double>& p) const {
    for (size_t k = 0; k < p.size(); ++k)
      p[k] = static_cast<double>(x_.dot(row, weight_.data() + k * x_.columns()) + bias_[k]);
    const double most = *std::ranges::max_element(p);
    double total = 0;
    for (double& value : p) total += value = std::exp(value - most);
    for (double& value : p) value /= total;
  }

  const Features& x_;
  const Labels& labels_;
  Parameters parameters_;
  Tensor weight_, bias_;  // [classes x columns], [classes]
  Adam adam_;
};

}  // namespace

Regression fit_early_stopping(const Features& x, const Labels& labels, std::span<const int> rows,
                              const std::function<double(const Regression&)>& judge,
                              const EarlyStopping& options) {
  if (rows.empty() || labels.shares.size() != x.rows() * labels.classes)
    fail("regression: ", rows.size(), " cases of ", x.rows(), " rows with ", labels.shares.size(),
         " labels; there must be cases, and each row labelled");
  std::vector<int> order(rows.begin(), rows.end());
  Random(options.seed).permute(order);
  Softmax softmax(x, labels, options);
  Regression best;
  for (double best_score = -std::numeric_limits<double>::infinity();;) {
    for (size_t pass = 0; pass < options.passes; ++pass)
      for (size_t begin = 0; begin < order.size(); begin += options.batch)
        softmax.step(std::span(order).subspan(begin, std::min(options.batch, order.size() - begin)));
    Regression now = softmax.regression();
    const double score = judge(now);
    if (best.weights.empty()) best = now;
    if (!(score > best_score)) return best;
    best_score = score;
    best = std::move(now);
  }
}

}  // namespace lamina::skip_thoughts
