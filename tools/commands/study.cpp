// lamina study: every combination of an experiment's settings with several seeds, and what can be told from them.

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/evidence/study/study.h"
#include "tools/commands/commands.h"
#include "tools/flags/flag_value.h"
#include "tools/study/tables/study_report.h"
#include "tools/study/train_study.h"

namespace lamina {

namespace {

struct StudyFlags {
  std::string file, out;
  size_t jobs = 0;
  bool tables = false, single = false;
};

/// runs/study-mnist-batch for batch.json.
std::string default_folder(const Study& study) {
  return "runs/study-" + study.experiment + '-' + std::filesystem::path(study.file).stem().string();
}

bool takes_value(const Command& command, const std::string& flag) {
  const std::vector<FlagView> flags = command.flags();
  const auto found = std::ranges::find(flags, flag, &FlagView::name);
  return found != flags.end() && found->takes_value;
}

/// The experiment must train, know every flag and accept every value.
void require_flags(const Study& study) {
  Command program("lamina", "");
  for (const auto add : add_commands) add(program);
  const auto& commands = program.commands();
  const auto experiment = std::ranges::find(commands, study.experiment, &Command::name);
  if (experiment == commands.end() || !experiment->has("--resume")) {
    std::string list;
    for (const Command& command : commands)
      if (command.has("--resume")) list += (list.empty() ? "" : ", ") + command.name();
    fail<DataError>(study.file, ": 'experiment' is '", study.experiment,
                    "', which trains nothing; there are ", list);
  }
  std::vector<Settings> parts{study.settings};
  for (const Combination& each : study.combinations) parts.push_back(each.settings);
  for (const Settings& part : parts)
    for (const auto& [name, value] : part.entries())
      if (!experiment->has("--" + name))
        fail<DataError>(study.file, ": '", name, "' is no flag of lamina ", study.experiment, "; see lamina ",
                        study.experiment, " --help");
      else if (std::holds_alternative<bool>(value) && takes_value(*experiment, "--" + name))
        fail<DataError>(study.file, ": '", name, "' is ", text_of(value),
                        ", and its flag takes a value; give one, or leave the key out");
  for (size_t i = 0; i < study.combinations.size(); ++i) {
    std::vector<std::string> words{"lamina", study.experiment};
    std::ranges::copy(study.flags_of({.combination = i, .seed = study.seeds[0]}), std::back_inserter(words));
    try {
      program.check(words);
    } catch (const UsageError& problem) {
      fail<DataError>(study.file, ": ", study.combinations[i].name, ": ", problem.what());
    }
  }
}

/// Tables and figure again, of what has been trained.
int show(const Study& study, const std::string& folder, bool single) {
  if (!is_folder(folder))
    fail<UsageError>("--tables: there is no folder ", folder, "; name it with --out, or train first");
  require_no_run(folder);
  const std::string file = folder + "/study.json";
  if (exists(file)) merged_with_kept(study, {}, file, read_file(file));
  report_study(study, folder, single);
  return 0;
}

int run(const StudyFlags& flags) {
  const Study study = read_study(flags.file);
  require_flags(study);
  require_metrics_of_experiment(study);
  const std::string folder = flags.out.empty() ? default_folder(study) : flags.out;
  if (flags.tables) return show(study, folder, flags.single);
  return train_study(study, {.folder = folder,
                             .jobs = flags.jobs,
                             .single = flags.single,
                             .words = text("study ", shell_word(flags.file), " --out ", shell_word(folder))});
}

}  // namespace

void add_study_command(Command& program) {
  Command& command =
      program.add_command("study", "an experiment's variants with several seeds, and what they tell",
                          "FILE is JSON:\n"
                          "  {\"question\": \"Does layer norm help more where batches are small?\",\n"
                          "   \"experiment\": \"mnist\",\n"
                          "   \"settings\": {\"preset\": \"small\", \"epochs\": 3},\n"
                          "   \"variants\": {\"norm\": [\"none\", \"layer\"], \"batch\": [128, 4]},\n"
                          "   \"seeds\": [1, 2, 3, 4, 5]}\n"
                          "trains 2 x 2 variants with 5 seeds each; [{...}, {...}] in 'variants' names\n"
                          "combinations instead. The other keys are in models/evidence/README.md. Seeds\n"
                          "and variants can be added later, and epochs raised; what is finished is not\n"
                          "trained again, what was interrupted goes on.\n"
                          "Example: lamina study models/mnist/studies/batch.json --out runs/batch-study");
  const auto flags = std::make_shared<StudyFlags>();
  command.add("FILE", flags->file, "the study: an experiment, its variants and seeds").required();
  command.add("--out", flags->out, "folder of the study; by default runs/study-EXPERIMENT-FILE");
  const Flag jobs =
      command.add("--jobs", flags->jobs, "runs at a time; 0: one per core, fewer where memory does not allow")
          .range(0, 1024)
          .show_default();
  command.add("--tables", flags->tables, "train nothing, write tables, verdicts and figure of what there is")
      .excludes(jobs);
  command.add("--single", flags->single, "the figure shows each run beside the median and the range of all");
  command.action([flags] { return run(*flags); });
}

}  // namespace lamina
