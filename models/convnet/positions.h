#pragma once
// The study of Section 6.7: do units whose windows extend beyond the image's border have different
// statistics?
//
// For each position of a feature map, over all test cases and all channels: mean and deviation of the summed
// inputs a and of the outputs h = relu(normalize(a)), and the fraction of outputs that are above zero.

#include <string>
#include <vector>

#include "models/convnet/model.h"
#include "models/data/mnist_data.h"

namespace lamina::convnet {

/// One number per position, row by row.
struct PositionStatistics {
  size_t height = 0, width = 0;
  std::vector<double> input_mean, input_deviation, output_mean, output_deviation, active;

  /// Whether a window around this position extends beyond the border.
  bool at_border(size_t row, size_t column) const {
    const size_t reach = Model::padding;
    return row < reach || column < reach || row + reach >= height || column + reach >= width;
  }
};

/// For both convolutional layers in evaluation mode, over all cases of the split.
std::vector<PositionStatistics> position_statistics(Model& model, const DigitSplit& split);

/// One line per position: layer,row,column,border,input_mean,...,active.
std::string to_csv(const std::vector<PositionStatistics>& layers);

/// A markdown table: each statistic at the border and in the centre, pooled over the positions of each.
std::string border_table(const std::vector<PositionStatistics>& layers);

}  // namespace lamina::convnet
