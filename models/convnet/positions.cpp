#include "models/convnet/positions.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

#include "models/run/metrics.h"

namespace lamina::convnet {

namespace {

/// Sums over cases and channels for every position.
struct Sums {
  std::vector<double> total, squares, positive;
  double count = 0;

  void add(const Tensor& maps) {
    const Shape& s = maps.shape();
    const size_t positions = s[1] * s[2], channels = s[3];
    total.resize(positions);
    squares.resize(positions);
    positive.resize(positions);
    count += static_cast<double>(s[0] * channels);
    for (size_t i = 0; i < maps.rows(); ++i)
      for (const real value : maps.values().subspan(i * channels, channels)) {
        const auto v = static_cast<double>(value);
        total[i % positions] += v;
        squares[i % positions] += v * v;
        positive[i % positions] += v > 0;
      }
  }
  std::vector<double> mean() const { return divided(total); }
  std::vector<double> active() const { return divided(positive); }
  std::vector<double> deviation() const {
    std::vector<double> result = divided(squares);
    for (size_t i = 0; i < result.size(); ++i) {
      const double mu = total[i] / count;
      result[i] = std::sqrt(std::max(0.0, result[i] - mu * mu));
    }
    return result;
  }

 private:
  std::vector<double> divided(std::vector<double> values) const {
    for (double& v : values) v /= count;
    return values;
  }
};

/// Mean and deviation of all numbers at the border or in the centre, from those of the positions.
struct Region {
  double mean = 0, squares = 0, positions = 0;
  void add(double position_mean, double position_deviation) {
    mean += position_mean;
    squares += position_deviation * position_deviation + position_mean * position_mean;
    ++positions;
  }
  double average() const { return mean / positions; }
  double deviation() const { return std::sqrt(std::max(0.0, squares / positions - average() * average())); }
};

struct Column {
  const char* name;
  std::vector<double> PositionStatistics::*values;
};
constexpr Column columns[] = {{"input_mean", &PositionStatistics::input_mean},
                              {"input_deviation", &PositionStatistics::input_deviation},
                              {"output_mean", &PositionStatistics::output_mean},
                              {"output_deviation", &PositionStatistics::output_deviation},
                              {"active", &PositionStatistics::active}};

}  // namespace

std::vector<PositionStatistics> position_statistics(Model& model, const DigitSplit& split) {
  constexpr size_t chunk = 250, pixels = 784;
  Sums inputs[2], outputs[2];
  std::vector<PositionStatistics> layers(2);
  for (size_t begin = 0; begin < split.count(); begin += chunk) {
    const size_t count = std::min(chunk, split.count() - begin);
    const Tensor images =
        Tensor::from({count, pixels}, std::span(split.pixels).subspan(begin * pixels, count * pixels));
    const auto views = model.inspect(images);
    for (size_t i = 0; i < views.size(); ++i) {
      layers[i].height = views[i].outputs.shape()[1];
      layers[i].width = views[i].outputs.shape()[2];
      inputs[i].add(views[i].summed_inputs);
      outputs[i].add(views[i].outputs);
    }
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].input_mean = inputs[i].mean();
    layers[i].input_deviation = inputs[i].deviation();
    layers[i].output_mean = outputs[i].mean();
    layers[i].output_deviation = outputs[i].deviation();
    layers[i].active = outputs[i].active();
  }
  return layers;
}

std::string to_csv(const std::vector<PositionStatistics>& layers) {
  std::string csv = "layer,row,column,border";
  for (const Column& column : columns) csv += std::string(",") + column.name;
  csv += '\n';
  for (size_t layer = 0; layer < layers.size(); ++layer)
    for (size_t i = 0; i < layers[layer].active.size(); ++i) {
      const size_t row = i / layers[layer].width, column = i % layers[layer].width;
      csv += text(layer + 1, ',', row, ',', column, ',', layers[layer].at_border(row, column));
      for (const Column& each : columns) csv += formatted(",%.7g", (layers[layer].*each.values)[i]);
      csv += '\n';
    }
  return csv;
}

std::string border_table(const std::vector<PositionStatistics>& layers) {
  std::string table =
      "| layer | positions | summed inputs: mean | deviation | outputs: mean | deviation | active |\n"
      "|---|---|---|---|---|---|---|\n";
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    const PositionStatistics& s = layers[layer];
    for (const bool border : {true, false}) {
      Region inputs, outputs, active;
      for (size_t i = 0; i < s.active.size(); ++i) {
        if (s.at_border(i / s.width, i % s.width) != border) continue;
        inputs.add(s.input_mean[i], s.input_deviation[i]);
        outputs.add(s.output_mean[i], s.output_deviation[i]);
        active.add(s.active[i], 0);
      }
      char row[200];
      std::snprintf(row, sizeof row, "| %zu | %s (%.0f) | %.3f | %.3f | %.3f | %.3f | %.1f%% |\n", layer + 1,
                    border ? "border" : "centre", inputs.positions, inputs.average(), inputs.deviation(),
                    outputs.average(), outputs.deviation(), 100 * active.average());
      table += row;
    }
  }
  return table;
}

}  // namespace lamina::convnet
