#pragma once

namespace lamina {

/// Batch normalization and dropout act differently while a model learns and when it is used.
enum class Mode {
  train,     ///< dropout; batch norm by the batch's statistics, which enter the moving averages
  evaluate,  ///< no dropout; batch norm by the population's statistics
  /// As evaluate, but batch norm by the batch's statistics; changes nothing. So the curves of batch norm in
  /// the paper's Figure 2 were evaluated, by the authors' public code.
  evaluate_by_batch,
  /// As evaluate_by_batch, and averages the statistics of all batches since forget_population() into those of
  /// the population, each batch by its number of cases. For recurrent layers and MaskedBatchNorm.
  measure_population
};

}  // namespace lamina
