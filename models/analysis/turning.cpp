#include "models/analysis/turning.h"

#include <algorithm>
#include <cstdio>
#include <numbers>

#include "core/ops.h"
#include "core/tape.h"
#include "models/analysis/geometry.h"
#include "models/mnist/model.h"
#include "models/recording/vector_changes.h"
#include "models/training/digit_experiment.h"

namespace lamina::analysis {

namespace {

constexpr auto sgd_rate = real(0.1), adam_rate = real(1e-3);

/// The classifier of Section 6.6 with fewer units and a choice of optimizers.
class Subject final : public DigitExperiment {
 public:
  Subject(const MnistData& data, const TurningOptions& options)
      : DigitExperiment(data, {.norm = options.norm, .batch = options.batch, .seed = options.seed}),
        model_(parameters, {.norm = options.norm, .hidden = options.hidden}),
        optimizer_(make_optimizer(options.optimizer, parameters,
                                  options.optimizer == OptimizerKind::sgd ? sgd_rate : adam_rate)) {
    // The first parameter is the first layer's weight, or its direction under weight norm, where the gain
    // keeps the length from before.
    for (real& weight : watched().values()) weight *= static_cast<real>(options.scale);
  }

  Tensor logits(const Tensor& images, Mode mode) override { return model_(images, mode); }
  Optimizer& optimizer() override { return *optimizer_; }

  /// [inputs x units]
  Tensor watched() const { return parameters.learned().front().value; }

 private:
  mnist::Model model_;
  std::unique_ptr<Optimizer> optimizer_;
};

struct Turn {
  double norm, angle;
};

/// Means over the weight vectors; the angle in degrees.
Turn mean_turn(const Tensor& before, const Tensor& after) {
  const auto changes = column_changes(before.rows(), before.columns(), before.data(), after.data());
  Turn mean{0, 0};
  for (const VectorChange& change : changes) {
    mean.norm += change.length / static_cast<double>(changes.size());
    mean.angle += change.angle * 180 / std::numbers::pi / static_cast<double>(changes.size());
  }
  return mean;
}

bool same_kind(const TurningOptions& a, const TurningOptions& b) {
  return a.norm == b.norm && a.optimizer == b.optimizer;
}

}  // namespace

const char* name_of(OptimizerKind optimizer) { return optimizer == OptimizerKind::sgd ? "SGD" : "Adam"; }

TurningCurve watch_turning(const MnistData& data, const TurningOptions& options) {
  if (options.window == 0) fail("watch_turning: a window of 0 steps; it must be positive");
  Subject subject(data, options);
  TurningCurve curve{.options = options};
  TurningPoint sums{0, 0, 0, 0};
  for (std::uint64_t step = 1; step <= options.steps; ++step) {
    const Tensor before = subject.watched().copy();
    Tape tape;
    const Tensor loss = subject.loss(step - 1);
    tape.backward(loss);
    subject.optimizer().step();
    const auto [norm, angle] = mean_turn(before, subject.watched());
    const double nats = static_cast<double>(loss.item());
    if (step == 1) curve.first = {1, nats, norm, angle};
    sums.loss += nats;
    sums.norm += norm;
    sums.angle += angle;
    if (step % options.window != 0 && step != options.steps) continue;
    const auto count = static_cast<double>((step - 1) % options.window + 1);
    curve.points.push_back(
        {static_cast<double>(step), sums.loss / count, sums.norm / count, sums.angle / count});
    sums = {0, 0, 0, 0};
  }
  return curve;
}

std::string turning_table(const std::vector<TurningCurve>& curves) {
  std::string table =
      "| optimizer | norm | slope at the first update | in the first window | length: first | last | degrees "
      "an "
      "update: first | last | loss at the end |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const TurningCurve& usual : curves) {
    if (usual.options.scale != 1 || usual.points.empty()) continue;
    std::vector<double> first_norms, first_angles, norms, angles;
    for (const TurningCurve& curve : curves) {
      if (!same_kind(curve.options, usual.options) || curve.points.empty()) continue;
      first_norms.push_back(curve.first.norm);
      first_angles.push_back(curve.first.angle);
      norms.push_back(curve.points.front().norm);
      angles.push_back(curve.points.front().angle);
    }
    const TurningPoint &first = usual.points.front(), &last = usual.points.back();
    char row[200];
    std::snprintf(row, sizeof row, "| %s | %s | %.2f | %.2f | %.2f | %.2f | %.3f | %.3f | %.3f |\n",
                  name_of(usual.options.optimizer), lamina::name_of(usual.options.norm),
                  log_log_slope(first_norms, first_angles), log_log_slope(norms, angles), first.norm,
                  last.norm, first.angle, last.angle, last.loss);
    table += row;
  }
  return table;
}

}  // namespace lamina::analysis
