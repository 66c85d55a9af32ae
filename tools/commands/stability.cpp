// lamina stability: the claim of Section 3.1 as a figure. In a plain RNN the summed inputs tend to grow or to
// shrink at every step, and with them the gradients; layer norm does not see their scale. A simple RNN whose
// recurrent weights are an orthogonal matrix times 0.5, 1 or 2 runs with and without layer norm, and the
// length of h_t and of dL/dh_t is recorded at every step, for a loss that looks at the last h only.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/random.h"
#include "core/ops.h"
#include "core/tape.h"
#include "layers/initializers.h"
#include "layers/recurrent/recurrent.h"
#include "models/run/metrics.h"
#include "tools/commands/commands.h"
#include "tools/flags/field.h"
#include "tools/results/plot.h"
#include "tools/results/result_folder.h"
#include "tools/results/variant_report.h"

namespace lamina {

namespace {

struct StabilityFlags {
  size_t steps = 200, hidden = 128, batch = 16, seed = 1;
  std::vector<double> scales{0.5, 1, 2};
  double input = 0.1;
  std::string function = "tanh", out = "runs/stability";
};

/// One curve: an RNN with one scale, with or without layer norm.
struct Stability {
  Norm norm;
  double scale;
  SequenceRecord record;
};

/// The same inputs, first state, loss and (but for the scale) weights for every norm and scale.
SequenceRecord observe(const StabilityFlags& flags, Norm norm, double scale) {
  const size_t hidden = flags.hidden, rows = flags.batch, seed = flags.seed;
  Parameters parameters(seed);
  Rnn rnn(parameters, "rnn", {.input = hidden, .hidden = hidden, .norm = norm},
          flags.function == "relu" ? relu_cell() : tanh_cell());
  for (real& weight : rnn.hidden_weight.values()) weight *= static_cast<real>(scale);
  const Initializer unit =
      normal(static_cast<real>(1 / std::sqrt(static_cast<double>(hidden))));  // vectors of length 1
  const Tensor x = normal(static_cast<real>(flags.input))({flags.steps, rows, hidden}, Random(seed + 1));
  const Tensor start = unit({rows, hidden}, Random(seed + 2)).require_gradient();
  const Tensor direction = unit({rows, hidden}, Random(seed + 3));
  SequenceRecord record;
  Tape tape;
  const Sequence sequence = rnn(x, {.initial = {.h = start}, .record = &record});
  tape.backward(sum(sequence.last.h * direction));
  return record;
}

std::string to_csv(const std::vector<Stability>& all) {
  std::string csv = "norm,scale,step,hidden_norm,hidden_gradient_norm,summed_input_deviation\n";
  for (const auto& [norm, scale, record] : all)
    for (size_t t = 0; t < record.hidden_norm.size(); ++t)
      csv += text(name_of(norm), ',', scale, ',', t + 1, ',', formatted("%g", record.hidden_norm[t]), ',',
                  formatted("%g", record.hidden_gradient_norm[t]), ',',
                  formatted("%g", record.summed_input_deviation[t]), '\n');
  return csv;
}

/// A colour for each scale; dashed without, solid with layer norm.
std::vector<Panel> figure(const std::vector<Stability>& all, size_t scales) {
  std::vector<Panel> panels{
      {.title = "Hidden state", .x_label = "step t", .y_label = "length of h_t", .log_y = true},
      {.title = "Its gradient", .x_label = "step t", .y_label = "length of dL/dh_t", .log_y = true}};
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [norm, scale, record] = all[i];
    const bool plain = norm == Norm::none;
    Curve curve{.title = text(plain ? "plain" : "layer norm", ", weights x ", scale),
                .line = plain ? Line::dashed : Line::solid,
                .color = static_cast<int>(i % scales)};
    for (size_t t = 0; t < record.hidden_norm.size(); ++t) curve.x.push_back(static_cast<double>(t + 1));
    curve.y = record.hidden_norm;
    panels[0].curves.push_back(curve);
    curve.y = record.hidden_gradient_norm;
    panels[1].curves.push_back(curve);
  }
  return panels;
}

/// By what factor a gradient grows with each step back, over the steps where all that counts of it is in the range of
/// `real`: where it is shorter than this, parts of it may have become 0. NaN where these are fewer than two, or the last
/// is none of them.
double growth_of(const std::vector<double>& gradient) {
  constexpr double shortest =
      static_cast<double>(std::numeric_limits<real>::min() / std::numeric_limits<real>::epsilon());
  const auto usable = [](double length) { return length > shortest && std::isfinite(length); };
  const auto first = std::ranges::find_if(gradient, usable);
  const auto steps = static_cast<double>(gradient.end() - first - 1);
  return steps > 0 && usable(gradient.back()) ? std::pow(*first / gradient.back(), 1 / steps) : std::nan("");
}

/// First and last lengths, as a markdown table.
std::string summary(const std::vector<Stability>& all) {
  std::string rows;
  for (const auto& [norm, scale, record] : all) {
    const auto &h = record.hidden_norm, &d = record.hidden_gradient_norm;
    rows += markdown_row({name_of(norm), formatted("%g", scale), formatted("%.3g", h.front()),
                          formatted("%.3g", h.back()), formatted("%.2e", d.front()),
                          formatted("%.2e", d.back()), formatted("%.3f", growth_of(d))});
  }
  return table_with_head(
      {"norm", "weights x", "h_1", "h_T", "dL/dh_1", "dL/dh_T", "gradient grows per step back by"}, rows);
}

void run(const StabilityFlags& flags, const Fields& fields) {
  const ResultFolder folder(flags.out, {.experiment = "stability", .settings = fields.settings()});
  std::vector<Stability> all;
  for (const Norm norm : {Norm::none, Norm::layer})
    for (const double scale : flags.scales)
      all.push_back({.norm = norm, .scale = scale, .record = observe(flags, norm, scale)});
  folder.report(summary(all));
  folder.write("stability.csv", to_csv(all));
  folder.draw("stability", figure(all, flags.scales.size()));
}

}  // namespace

void add_stability_command(Command& program) {
  Command& command =
      program.add_command("stability", "hidden states and gradients of an RNN over time (Section 3.1)",
                          "Example: lamina stability --steps 200 --scales 0.5,1,2 --out runs/stability");
  const auto flags = std::make_shared<StabilityFlags>();
  Fields fields(command);
  constexpr int most = 100000;
  fields.add("--steps", flags->steps, "T").range(1, most).show_default();
  fields.add("--hidden", flags->hidden, "units").range(1, most).show_default();
  fields.add("--batch", flags->batch, "sequences, of which means are taken").range(1, most).show_default();
  fields.add("--scales", flags->scales, "factors of the recurrent weights")
      .separated_by_commas()
      .positive()
      .show_default();
  fields.add("--input", flags->input, "standard deviation of the inputs; 0: only h_0 drives")
      .non_negative()
      .show_default();
  fields.add("--function", flags->function, "of the units").one_of({"tanh", "relu"}).show_default();
  fields.add("--seed", flags->seed, "of weights and inputs").non_negative().show_default();
  command.add("--out", flags->out, "folder for the CSV and the figure").show_default();
  command.action([flags, fields] { run(*flags, fields); });
}

}  // namespace lamina
