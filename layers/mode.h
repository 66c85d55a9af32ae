#pragma once

namespace lamina {

/// Batch normalization and dropout act differently in training and in evaluation.
enum class Mode {
  train,     ///< dropout; batch norm with the batch's statistics, which enter the moving averages
  evaluate,  ///< no dropout; batch norm with the population's statistics
  /// As evaluate, but batch norm with the batch's statistics; changes nothing. The authors' public code
  /// evaluated the curves of batch norm in the paper's Figure 2 in this way.
  evaluate_by_batch,
  /// As evaluate_by_batch, and averages the statistics of all batches of two cases and more since forget_population()
  /// into those of the population, each batch weighted by its number of cases. For recurrent layers and
  /// MaskedBatchNorm.
  measure_population
};

}  // namespace lamina
