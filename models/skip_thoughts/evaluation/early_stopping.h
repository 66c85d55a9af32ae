#pragma once
// The softmax regression of the public code for SICK (eval_sick.py on Keras of 2015): no penalty; Adam at
// 1e-3 on batches of 128, always in the same order, from Glorot's uniform weights; after every 100 passes it
// is evaluated; the first time that it is not better than before, training stops and the best one is used.

#include <cstdint>
#include <functional>
#include <span>

#include "models/skip_thoughts/evaluation/regression.h"

namespace lamina::skip_thoughts {

struct EarlyStopping {
  size_t batch = 128, passes = 100;
  real learning_rate = real(1e-3);
  std::uint64_t seed = 1;  ///< of the first weights and of the cases' order
};

/// Fits the cases whose rows are listed, on the calling thread. `judge` is larger for better regressions; one that it
/// calls NaN is not better.
Regression fit_early_stopping(const Features& x, const Labels& labels, std::span<const int> rows,
                              const std::function<double(const Regression&)>& judge,
                              const EarlyStopping& options = {});

}  // namespace lamina::skip_thoughts
