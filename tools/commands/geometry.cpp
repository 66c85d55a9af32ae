// lamina geometry: Section 5.2 of the paper, the geometry of normalized models, checked and drawn.

#include <algorithm>
#include <cmath>
#include <iostream>

#include "core/threads/parallel.h"
#include "models/analysis/geometry.h"
#include "models/analysis/turning.h"
#include "models/data/mnist_data.h"
#include "models/run/metrics.h"
#include "models/run/run_folder.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/common_flags.h"
#include "tools/programs/process.h"
#include "tools/results/result_folder.h"

namespace lamina {

namespace {

using namespace analysis;

struct GeometryFlags {
  std::string data, out = "runs/geometry";
  size_t seed = 1, steps = 500;
  std::vector<double> scales{0.5, 1, 2, 4};
  int threads = 0;
};

std::string model_fields(const GlmOptions& glm) {
  return text(name_of(glm.distribution), ',', name_of(glm.norm), ',');
}

std::string to_csv(const std::vector<FormulaCheck>& checks) {
  std::string csv = "outputs,norm,weights,weights_bias,weights_gain,bias_gain,along_gain\n";
  for (const FormulaCheck& c : checks)
    csv += text(model_fields(c.glm), c.weights, ',', c.weights_bias, ',', c.weights_gain, ',', c.rest, ',',
                c.gain_metric, '\n');
  return csv;
}

std::string to_csv(const std::vector<CrossTerms>& all) {
  std::string csv = "units,weights_block,scaling_exact,scaling_13,shifting_exact,shifting_13\n";
  for (const CrossTerms& c : all)
    csv += text(c.units, ',', c.weights, ',', c.scaling, ',', c.scaling_13, ',', c.shifting, ',',
                c.shifting_13, '\n');
  return csv;
}

std::string to_csv(const std::vector<KlCurve>& curves) {
  std::string csv = "outputs,norm,t,kl,metric\n";
  for (const KlCurve& c : curves)
    for (size_t i = 0; i < c.t.size(); ++i)
      csv += text(model_fields(c.glm), c.t[i], ',', c.kl[i], ',', c.metric[i], '\n');
  return csv;
}

std::string to_csv(const std::vector<Sweep>& sweeps) {
  std::string csv = "outputs,norm,factor,curvature\n";
  for (const Sweep& s : sweeps)
    for (size_t i = 0; i < s.factor.size(); ++i)
      csv += text(model_fields(s.glm), s.factor[i], ',', s.curvature[i], '\n');
  return csv;
}

std::string to_csv(const std::vector<TurningCurve>& curves) {
  std::string csv = "optimizer,norm,scale,step,loss,length,degrees\n";
  for (const TurningCurve& c : curves) {
    std::vector<TurningPoint> points = c.points;
    points.insert(points.begin(), c.first);
    for (const TurningPoint& p : points)
      csv += text(name_of(c.options.optimizer), ',', name_of(c.options.norm), ',', c.options.scale, ',',
                  p.step, ',', p.loss, ',', p.norm, ',', p.angle, '\n');
  }
  return csv;
}

/// A panel for each distribution, a curve for each norm.
template <class Result, class Points>
std::vector<Panel> by_distribution(const std::vector<Result>& results, const Panel& like,
                                   const Points& points) {
  std::vector<Panel> panels;
  for (const Distribution distribution : distributions) {
    panels.push_back(like);
    panels.back().title = text(name_of(distribution), " outputs");
    for (const Result& result : results)
      if (result.glm.distribution == distribution) {
        Curve curve = points(result);
        curve.title = name_of(result.glm.norm);
        // Layer norm's curve often lies on batch norm's, and weight norm's on that of no normalization.
        if (result.glm.norm == Norm::layer || result.glm.norm == Norm::weight) curve.line = Line::dashed;
        panels.back().curves.push_back(curve);
      }
  }
  return panels;
}

std::vector<Panel> kl_figure(const std::vector<KlCurve>& curves) {
  const Panel like{.x_label = "length t of the move",
                   .y_label = "|KL / metric - 1|",
                   .log_x = true,
                   .log_y = true,
                   .y_min = 1e-5};
  return by_distribution(curves, like, [](const KlCurve& c) {
    Curve curve{.x = c.t};
    for (size_t i = 0; i < c.t.size(); ++i) curve.y.push_back(std::fabs(c.kl[i] / c.metric[i] - 1));
    return curve;
  });
}

std::vector<Panel> sweep_figure(const std::vector<Sweep>& sweeps, const std::string& x,
                                const std::string& y) {
  const Panel like{.x_label = x, .y_label = y, .log_x = true, .log_y = true};
  return by_distribution(sweeps, like, [](const Sweep& s) { return Curve{.x = s.factor, .y = s.curvature}; });
}

/// For each optimizer the angle against the length at both ends of training, a point for each scale, and against the
/// step between for the usual scale; a curve for each norm.
std::vector<Panel> turning_figure(const std::vector<TurningCurve>& curves) {
  std::vector<Panel> panels;
  for (const OptimizerKind optimizer : optimizers) {
    const auto add = [&](const char* when, const char* x_label, double TurningPoint::*x,
                         const auto& points_of) {
      Panel panel{.title = text(name_of(optimizer), ", ", when),
                  .x_label = x_label,
                  .y_label = "degrees turned by an update",
                  .log_x = x == &TurningPoint::norm,
                  .log_y = true};
      for (const Norm norm : glm_schemes) {
        panel.curves.push_back({.title = name_of(norm)});
        for (const TurningCurve& c : curves)
          if (c.options.optimizer == optimizer && c.options.norm == norm)
            for (const TurningPoint& point : points_of(c)) {
              panel.curves.back().x.push_back(point.*x);
              panel.curves.back().y.push_back(point.angle);
            }
      }
      panels.push_back(panel);
    };
    using Points = std::vector<TurningPoint>;
    const char* const length = "length of the weight vectors";
    add("first update", length, &TurningPoint::norm, [](const TurningCurve& c) { return Points{c.first}; });
    add("end of training", length, &TurningPoint::norm,
        [](const TurningCurve& c) { return Points{c.points.back()}; });
    add("weights of usual length", "step", &TurningPoint::step,
        [](const TurningCurve& c) { return c.options.scale == 1 ? c.points : Points(); });
  }
  return panels;
}

std::vector<TurningCurve> watch_all(const GeometryFlags& flags, const MnistData& data, std::uint64_t steps) {
  std::vector<TurningCurve> curves;
  for (const OptimizerKind optimizer : optimizers)
    for (const Norm norm : glm_schemes)
      for (const double scale : flags.scales)
        curves.push_back(watch_turning(
            data,
            {.norm = norm, .optimizer = optimizer, .scale = scale, .steps = steps, .seed = flags.seed}));
  return curves;
}

RunConfig config_of(const GeometryFlags& flags) {
  RunConfig config{.experiment = "geometry"};
  if (!flags.data.empty()) config.settings.set("data", flags.data);
  config.settings.set("seed", flags.seed);
  config.settings.set("steps", flags.steps);
  config.settings.set("scales", joined(flags.scales, number_text, ","));
  config.settings.set("smoke", smoke_epochs());
  return config;
}

void run(GeometryFlags flags) {
  std::ranges::sort(flags.scales);
  if (std::ranges::find(flags.scales, 1.0) == flags.scales.end())
    fail<UsageError>("--scales: 1 is not among them; add it, the tables compare with it");
  if (flags.scales.size() < 2)
    fail<UsageError>("--scales: a slope needs two different scales; give more, as in 0.5,1,2");
  continue_in_double();
  set_threads(flags.threads);
  const ResultFolder folder(flags.out, config_of(flags));
  const size_t seed = flags.seed;
  const bool smoke = smoke_epochs() > 0;
  const size_t built_in = smoke ? 500 : 10000;
  const MnistData data = flags.data.empty() ? synthetic_mnist(seed, built_in, 1, 1) : load_mnist(flags.data);
  std::cout << data.source << '\n' << std::endl;

  const auto checks = check_formulas(seed);
  const auto terms = cross_terms(seed);
  const auto kl = kl_curves(seed);
  const auto weights = weight_sweeps(seed), inputs = input_sweeps(seed);
  const auto turning = watch_all(flags, data, smoke ? std::min<size_t>(flags.steps, 2) : flags.steps);

  folder.report(text(
      "Fisher matrices: formulas (12) and (13), and (32) to (35), against autodiff; largest difference by "
      "block,\nrelative to the largest entry:\n\n",
      formula_table(checks), "\nWhat (13) leaves out under layer norm, Gaussian outputs:\n\n",
      cross_term_table(terms), "\nKL divergence against the metric (8), moves of length t:\n\n", kl_table(kl),
      "\nMean curvature along the weights, weights scaled:\n\n", sweep_table(weights, "weights"),
      "\nMean curvature along the gain, inputs scaled:\n\n", sweep_table(inputs, "inputs"),
      "\nAngle by which an update turns the weight vectors; slope: the power of their length by which it "
      "goes:\n\n",
      turning_table(turning)));
  folder.write("formulas.csv", to_csv(checks));
  folder.write("cross_terms.csv", to_csv(terms));
  folder.write("kl.csv", to_csv(kl));
  folder.write("weights.csv", to_csv(weights));
  folder.write("gain.csv", to_csv(inputs));
  folder.write("turning.csv", to_csv(turning));
  folder.draw("kl", kl_figure(kl));
  folder.draw("weights", sweep_figure(weights, "factor of the weights", "curvature along the weights"));
  folder.draw("gain", sweep_figure(inputs, "factor of the inputs", "curvature along the gain"));
  folder.draw("turning", turning_figure(turning));
}

}  // namespace

void add_geometry_command(Command& program) {
  Command& command = program.add_command(
      "geometry", "Fisher matrices and how updates turn weight vectors (Section 5.2)",
      "Example: lamina geometry --data mnist --steps 500 --scales 0.5,1,2,4 --out runs/geometry");
  const auto flags = std::make_shared<GeometryFlags>();
  command.add("--data", flags->data, "folder with the original MNIST files; without it, built-in data");
  command.add("--steps", flags->steps, "training steps of each network whose weights are watched")
      .range(1, 1000000)
      .show_default();
  command
      .add("--scales", flags->scales,
           "factors of the first layer's weights where training starts: 1 and others")
      .separated_by_commas()
      .positive()
      .show_default();
  command.add("--seed", flags->seed, "of all random numbers").non_negative().show_default();
  add_threads_flag(command, flags->threads);
  command.add("--out", flags->out, "folder for tables and figures").show_default();
  command.action([flags] { run(*flags); });
}

}  // namespace lamina
