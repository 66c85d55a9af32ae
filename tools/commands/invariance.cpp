// lamina invariance: Table 1 of the paper, measured (Section 5.1).

#include <algorithm>
#include <cmath>

#include "models/analysis/invariance.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/common_flags.h"
#include "tools/programs/process.h"
#include "tools/results/result_folder.h"

namespace lamina {

namespace {

using namespace analysis;

struct InvarianceFlags {
  size_t draws = 50, seed = 1, smoke = smoke_epochs();
  std::vector<double> magnitudes = InvarianceOptions{}.magnitudes;
  std::string out = "runs/invariance";
};

/// log10 of the largest change, a square for each scheme and transformation.
Panel heat_map(const std::vector<InvarianceResult>& results, double epsilon) {
  HeatMap map{.rows = table_schemes().size(),
              .columns = std::size(transformations),
              .column_names = {"δW", "W+γ", "δw", "δX", "X+γ", "δx"},
              .low = -17,
              .high = 2};
  for (const Norm norm : table_schemes()) {
    map.row_names.emplace_back(name_of(norm));
    for (const Transformation transformation : transformations)
      map.values.push_back(
          std::log10(std::max(1e-17, largest_change(results, norm, transformation, epsilon))));
  }
  return {
      .title = text("log10 of the change, epsilon ", epsilon), .x_label = "transformation", .heat_map = map};
}

void run(const InvarianceFlags& flags, const Fields& fields) {
  const auto changes_nothing = [](double magnitude) { return std::fabs(magnitude - 1) < 1e-6; };
  if (std::ranges::all_of(flags.magnitudes, changes_nothing))
    fail<UsageError>("--magnitudes: a factor of 1 re-scales nothing; give another one, as in 0.1,10");
  continue_in_double();
  const ResultFolder folder(flags.out, {.experiment = "invariance", .settings = fields.settings()});
  const auto results =
      measure_invariance({.draws = flags.smoke > 0 ? std::min<size_t>(flags.draws, 2) : flags.draws,
                          .magnitudes = flags.magnitudes,
                          .seed = flags.seed});
  const std::string differing = disagreements(results);
  const std::string report = text(
      "Largest change of the output, relative to it. yes: below ", invariance_threshold,
      ".\n\nEpsilon 0:\n\n", invariance_table(results, 0),
      differing.empty() ? "\nEvery verdict agrees with Table 1.\n" : "\nNot as in the paper:\n" + differing,
      "\nEpsilon ", default_epsilon(), ", the layers' default:\n\n",
      invariance_table(results, default_epsilon()));
  folder.report(report);
  folder.write("invariance.csv", to_csv(results));
  folder.draw("invariance", {heat_map(results, 0), heat_map(results, default_epsilon())});
}

}  // namespace

void add_invariance_command(Command& program) {
  Command& command =
      program.add_command("invariance", "what each normalization does not see (Section 5.1, Table 1)",
                          "Example: lamina invariance --draws 50 --magnitudes 0.1,10 --out runs/invariance");
  const auto flags = std::make_shared<InvarianceFlags>();
  Fields fields(command);
  fields.add("--draws", flags->draws, "random layers for each magnitude").range(1, 100000).show_default();
  fields
      .add("--magnitudes", flags->magnitudes,
           "factors of re-scaling, and standard deviations of the vector of re-centering; not 1 alone")
      .separated_by_commas()
      .range(1e-6, 1e4)  // beyond, what changes stays below the threshold, or rounding comes above it
      .show_default();
  fields.add("--seed", flags->seed, "of all random numbers").non_negative().show_default();
  command.add("--out", flags->out, "folder for the table, the CSV and the figure").show_default();
  fields.keep("smoke", flags->smoke);
  command.action([flags, fields] { run(*flags, fields); });
}

}  // namespace lamina
