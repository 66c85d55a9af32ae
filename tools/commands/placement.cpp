// lamina placement: what Xiong et al. (2020) say of a Transformer at initialization, measured. The stream's squared
// length and the gradients of the blocks' last matrices for every place of the normalization, against the formulas.

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>

#include "core/threads/parallel.h"
#include "models/evidence/interval.h"
#include "models/run/metrics.h"
#include "models/transformer/placement.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/common_flags.h"
#include "tools/programs/process.h"
#include "tools/results/result_folder.h"
#include "tools/results/variant_report.h"

namespace lamina {

namespace {

using namespace transformer;

struct PlacementFlags {
  std::vector<size_t> depths{2, 4, 8, 16, 24, 32, 48};
  size_t width = 128, tokens = 16, seeds = 5, seed = 1;
  int threads = 1;  // products of a few rows are too little to share
  std::string out = "runs/placement";
};

/// What was measured at one depth: a stream for each seed.
struct AtDepth {
  size_t depth;
  std::vector<Stream> seen;
  Stream formula;

  /// Mean and spread over the seeds of a block's number.
  Moments of(std::vector<double> Stream::*numbers, size_t block) const {
    std::vector<double> values;
    for (const Stream& stream : seen) values.push_back((stream.*numbers)[block]);
    return moments_of(values);
  }
};

struct Measured {
  PlacementCase how;
  std::vector<AtDepth> depths;  ///< rising

  const AtDepth& deepest() const { return depths.back(); }
};

std::vector<Measured> measure(const PlacementFlags& flags) {
  std::vector<Measured> all;
  for (const PlacementCase& how : placement_cases) {
    all.push_back({.how = how, .depths = {}});
    for (const size_t depth : flags.depths) {
      StreamOptions options{.how = how, .depth = depth, .width = flags.width, .tokens = flags.tokens};
      AtDepth at{.depth = depth, .seen = {}, .formula = mean_field(options)};
      for (size_t i = 0; i < flags.seeds; ++i) {
        options.seed = flags.seed + i;
        at.seen.push_back(observe(options));
      }
      all.back().depths.push_back(std::move(at));
    }
  }
  return all;
}

std::string to_csv(const std::vector<Measured>& all) {
  std::string csv =
      "placement,depth,block,after_attention,after_attention_deviation,after_block,after_block_deviation,"
      "gradient,gradient_deviation,formula_after_attention,formula_after_block,formula_gradient\n";
  for (const Measured& each : all)
    for (const AtDepth& at : each.depths)
      for (size_t l = 0; l < at.depth; ++l) {
        csv += text(each.how.name, ',', at.depth, ',', l + 1);
        for (const auto numbers : {&Stream::after_attention, &Stream::after_block, &Stream::gradient}) {
          const Moments seen = at.of(numbers, l);
          csv += "," + number_text(seen.mean) + "," +
                 number_text(seen.count < 2 ? std::nan("") : seen.deviation);
        }
        for (const auto numbers : {&Stream::after_attention, &Stream::after_block, &Stream::gradient})
          csv += "," + number_text((at.formula.*numbers)[l]);
        csv += '\n';
      }
  return csv;
}

// --- The table

/// One number alone says nothing of how it varies.
std::string with_spread(const Moments& value, const char* format) {
  const std::string mean = formatted(format, value.mean);
  return value.count < 2 ? mean : mean + " ± " + formatted(format, value.deviation);
}

/// The exponent of L in the gradient of the last block's last matrix, in the stream that is chosen at each depth.
template <class StreamAt>
double exponent_of(const Measured& each, const StreamAt& stream_at) {
  std::vector<double> depths, gradients;
  for (const AtDepth& at : each.depths) {
    depths.push_back(static_cast<double>(at.depth));
    gradients.push_back(stream_at(at).gradient.back());
  }
  return fitted_exponent(depths, gradients);
}

/// Over the seeds.
Moments exponent_seen(const Measured& each, size_t seeds) {
  std::vector<double> exponents;
  for (size_t i = 0; i < seeds; ++i)
    exponents.push_back(exponent_of(each, [=](const AtDepth& at) { return at.seen[i]; }));
  return moments_of(exponents);
}

/// First against last block's gradient in the deepest model.
Moments first_to_last(const AtDepth& at) {
  std::vector<double> ratios;
  for (const Stream& stream : at.seen) ratios.push_back(stream.gradient.front() / stream.gradient.back());
  return moments_of(ratios);
}

/// What the papers say of the squared length after block l and of the exponent.
struct Claim {
  std::string length, exponent;
};

Claim claim_of(const PlacementCase& how, size_t depth) {
  const auto l = static_cast<double>(depth);
  const auto between = [](double low, double high) {
    return formatted("%.4g", low) + " to " + formatted("%.4g", high);
  };
  if (how.norm == Norm::none) return {between(std::pow(1.5, l), std::pow(3, l)), "grows exponentially"};
  if (how.placement == Placement::post) return {"1.5", "0"};
  if (how.placement == Placement::pre) return {between(1 + l / 2, 1 + 3 * l / 2), "-0.5"};
  if (how.placement == Placement::sandwich) return {formatted("%.4g", 1 + 2 * l), "-0.5"};
  double harmonic = 0;
  for (size_t i = 1; i <= depth; ++i) harmonic += 1 / static_cast<double>(i);
  return {between(1 + harmonic / 2, 1 + 3 * harmonic / 2), "-0.5, and less than a logarithm"};
}

std::string table_of(const std::vector<Measured>& all, const PlacementFlags& flags) {
  const size_t depth = flags.depths.back();
  std::string rows;
  for (const Measured& each : all) {
    const AtDepth& at = each.deepest();
    const Claim claim = claim_of(each.how, depth);
    const bool power = each.how.norm != Norm::none;  // of L; else an exponential, which has no exponent
    rows += markdown_row({each.how.title, text('`', each.how.block, '`'),
                          with_spread(at.of(&Stream::after_block, depth - 1), "%.4g"),
                          formatted("%.4g", at.formula.after_block.back()), claim.length,
                          power ? with_spread(exponent_seen(each, flags.seeds), "%.2f") : "-",
                          power ? formatted("%.2f", exponent_of(each, std::mem_fn(&AtDepth::formula))) : "-",
                          claim.exponent, with_spread(first_to_last(at), "%.3g")});
  }
  return table_with_head({"", "block", text("squared length / d after block ", depth), "mean field", "bounds",
                          "gradient of W(2,L): exponent of L", "mean field's", "for large L",
                          text("gradient of W(2,1) / W(2,L), L = ", depth)},
                         rows);
}

/// Without norms a block makes the squared length up to three times as large: near block 320 its deviation, which takes
/// squares, is beyond the largest number, and near block 640 the length.
std::string note_on_overflow(const std::vector<Measured>& all) {
  for (const Measured& each : all) {
    const Moments length = each.deepest().of(&Stream::after_block, each.deepest().depth - 1);
    if (!std::isfinite(length.mean) || !std::isfinite(length.deviation))
      return text("\nIn the row '", each.how.title,
                  "' inf and nan are numbers, or squares of them, above 1.8e308.\n");
  }
  return "";
}

std::string report_of(const std::vector<Measured>& all, const PlacementFlags& flags) {
  const AtDepth& post = all.front().deepest();
  return text(
      "Transformers at initialization: width d = ", flags.width, ", ", flags.tokens,
      " positions, one head with uniform attention, L = ",
      joined(flags.depths, [](size_t depth) { return text(depth); }),
      flags.seeds == 1 ? ", one seed" : text(", mean ± deviation over ", flags.seeds, " seeds"), ".\n\n",
      table_of(all, flags), "\nThe sums that post-LN normalizes in block ", post.depth,
      ", squared length / d: ", with_spread(post.of(&Stream::after_attention, post.depth - 1), "%.3f"),
      " after attention (mean field ", formatted("%.3f", post.formula.after_attention.back()), "), ",
      with_spread(post.of(&Stream::after_block, post.depth - 1), "%.3f"), " after the feed-forward part (",
      formatted("%.3f", post.formula.after_block.back()), ").\n", note_on_overflow(all));
}

// --- Figures

/// Mean over the seeds for each block of the deepest model.
Curve by_block(const Measured& each, std::vector<double> Stream::*numbers, int color) {
  const AtDepth& at = each.deepest();
  Curve curve{.title = each.how.title, .color = color};
  for (size_t l = 0; l < at.depth; ++l) {
    curve.x.push_back(static_cast<double>(l + 1));
    curve.y.push_back(at.of(numbers, l).mean);
  }
  return curve;
}

/// The squared length by block, with the mean field dotted; pre-LN between its bounds. Without norms the stream leaves
/// the panel.
std::vector<Panel> stream_figure(const std::vector<Measured>& all) {
  const size_t depth = all.front().deepest().depth;
  Panel every{.title = text("every placement, L = ", depth),
              .x_label = "block l",
              .y_label = "squared length / d",
              .log_y = true,
              .y_max = 1000};
  Panel bounds{.title = "pre-LN and its bounds", .x_label = "block l", .y_label = "squared length / d"};
  for (size_t i = 0; i < all.size(); ++i) {
    const int color = static_cast<int>(i);
    const Curve curve = by_block(all[i], &Stream::after_block, color);
    const Curve formula{
        .x = curve.x, .y = all[i].deepest().formula.after_block, .line = Line::dotted, .color = color};
    every.curves.push_back(curve);
    every.curves.push_back(formula);
    if (all[i].how.placement != Placement::pre || all[i].how.norm == Norm::none) continue;
    bounds.curves = {curve, formula};
    bounds.curves[1].title = "mean field";
    for (const auto& [title, slope] : {std::pair("1 + l / 2", 0.5), {"1 + 3 l / 2", 1.5}}) {
      bounds.curves.push_back({.title = title, .x = curve.x, .y = {}, .line = Line::dashed});
      for (const double l : curve.x) bounds.curves.back().y.push_back(1 + slope * l);
    }
  }
  return {every, bounds};
}

/// The gradients by block in the deepest model, and the last block's against the depth, with the mean field dotted. Those
/// without norms would leave the others no room.
std::vector<Panel> gradient_figure(const std::vector<Measured>& all) {
  Panel blocks{.title = text("by block, L = ", all.front().deepest().depth),
               .x_label = "block l",
               .y_label = "norm of dL/dW(2,l)",
               .log_x = true,
               .log_y = true};
  Panel depths{.title = "last block, against the depth",
               .x_label = "blocks L",
               .y_label = "norm of dL/dW(2,L)",
               .log_x = true,
               .log_y = true};
  for (size_t i = 0; i < all.size(); ++i) {
    const int color = static_cast<int>(i);
    if (all[i].how.norm == Norm::none) continue;
    blocks.curves.push_back(by_block(all[i], &Stream::gradient, color));
    Curve seen{.title = all[i].how.title, .color = color}, formula{.line = Line::dotted, .color = color};
    for (const AtDepth& at : all[i].depths) {
      seen.x.push_back(static_cast<double>(at.depth));
      seen.y.push_back(at.of(&Stream::gradient, at.depth - 1).mean);
      formula.y.push_back(at.formula.gradient.back());
    }
    formula.x = seen.x;
    depths.curves.push_back(seen);
    depths.curves.push_back(formula);
  }
  return {blocks, depths};
}

void run(PlacementFlags& flags, const Fields& fields) {
  std::ranges::sort(flags.depths);
  if (flags.depths.size() < 2)
    fail<UsageError>("--depths: an exponent needs two different depths; give more, as in 2,8,24");
  if (smoke_epochs() > 0) flags.depths = {2, 4}, flags.seeds = std::min<size_t>(flags.seeds, 2);
  continue_in_double();
  set_threads(flags.threads);
  const ResultFolder folder(flags.out, {.experiment = "placement", .settings = fields.settings()});
  const std::vector<Measured> all = measure(flags);
  folder.report(report_of(all, flags));
  folder.write("placement.csv", to_csv(all));
  folder.draw("stream", stream_figure(all));
  folder.draw("gradient", gradient_figure(all));
}

}  // namespace

void add_placement_command(Command& program) {
  Command& command = program.add_command(
      "placement",
      "where the normalization stands in a Transformer: the stream and its gradients before training",
      "Example: lamina placement --depths 2,4,8,16,24,32,48 --seeds 5 --out runs/placement");
  const auto flags = std::make_shared<PlacementFlags>();
  Fields fields(command);
  fields.add("--depths", flags->depths, "numbers of blocks L, at least two")
      .separated_by_commas()
      .range(1, 1000)
      .show_default();
  fields.add("--width", flags->width, "d, of the stream and of the feed-forward part")
      .range(2, 4096)
      .show_default();
  fields.add("--tokens", flags->tokens, "positions of the input").range(1, 4096).show_default();
  fields.add("--seeds", flags->seeds, "random models per depth and placement").range(1, 1000).show_default();
  fields.add("--seed", flags->seed, "of the first one").non_negative().show_default();
  add_threads_flag(command, flags->threads);
  command.add("--out", flags->out, "folder for the tables and figures").show_default();
  command.action([flags, fields] { run(*flags, fields); });
}

}  // namespace lamina
