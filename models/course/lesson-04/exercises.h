#pragma once
// The exercises of lesson 4: your files implement these functions, the judge calls them.

#include <lamina.h>

#include <cmath>
#include <functional>
#include <span>

// softmax_loss.cpp

struct LossAndGradient {
  double loss;             // mean over the cases, in nats
  lamina::Tensor dlogits;  // its derivative, [cases x classes]
};

/// The loss of a classifier, -log softmax(logits)[label], and its derivative: logits [cases x classes], a label per case.
/// It must hold for logits of any size.
LossAndGradient softmax_loss(const lamina::Tensor& logits, std::span<const int> labels);

// train_epoch.cpp

using Model = std::function<lamina::Tensor(const lamina::Tensor& x)>;

/// One pass over all cases in the given order, `batch` at a time, with a step of the optimizer after each; the last batch
/// is smaller when the division leaves a rest. The loss is mean_squared_error(model(x), y). Returns its mean over all
/// cases, each counting alike.
double train_epoch(const lamina::Tensor& x, const lamina::Tensor& y, std::span<const int> order, size_t batch,
                   const Model& model, lamina::Optimizer& optimizer);

// early_stopping.cpp

/// Decides when a training has gone on for too long without getting better.
class EarlyStopping {
 public:
  /// It waits for `patience` losses in a row that are not lower than the lowest before.
  explicit EarlyStopping(int patience) : patience_(patience) {}

  /// To be called with each validation loss. Returns whether this one is the lowest so far: then the model is saved.
  bool improved(double loss);

  /// Whether training should stop.
  bool stop() const;

 private:
  int patience_, waited_ = 0;
  double best_ = HUGE_VAL;
};
