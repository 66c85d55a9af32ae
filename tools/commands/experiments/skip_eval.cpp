// lamina skip-thoughts eval: the scores of Table 3 of what a run has trained.

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/threads/parallel.h"
#include "models/skip_thoughts/evaluation/evaluation.h"
#include "models/terminal/progress.h"
#include "tools/commands/experiments/trained_encoder.h"
#include "tools/results/aligned_table.h"
#include "tools/results/skip_report.h"

namespace lamina {

using namespace skip_thoughts;

namespace {

struct EvalFlags {
  std::string run, data, features = "vectors", out, sick = "penalty", word_vectors;
  size_t inner_folds = 1;
  bool last = false;
  int threads = 0;

  EvaluationOptions options() const {
    return {.inner_folds = inner_folds,
            .sick = sick == "penalty" ? SickFit::penalty : SickFit::early_stopping};
  }
  /// In a run's folder: the scores by this protocol, apart from those by another.
  std::string task_file() const {
    return text("tasks", sick == "penalty" ? "" : "-early-stopping", word_vectors.empty() ? "" : "-expanded",
                inner_folds == 1 ? "" : text("-", inner_folds, "-inner-folds"), ".csv");
  }
};

struct TaskData {
  Relatedness sick;
  std::vector<Classification> tasks;
  explicit TaskData(const std::string& folder)
      : sick(read_sick(folder)), tasks(read_classifications(folder)) {}

  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    for (const Pairs* const part : {&sick.train, &sick.trial, &sick.test})
      for (const auto* const side : {&part->first, &part->second})
        all.insert(all.end(), side->begin(), side->end());
    for (const Classification& task : tasks)
      all.insert(all.end(), task.sentences.begin(), task.sentences.end());
    return all;
  }
};

TaskScores score(const Representation& features, const TaskData& data, const EvaluationOptions& options,
                 Progress& progress) {
  return evaluate(features, data.sick, data.tasks, options, [&] { progress.step(); });
}

std::string norm_of(const RunFolder& run) { return run.config().settings.get<std::string>("norm"); }

/// "layer-b64", or what a study calls it, "layer-seed2".
std::string name_of(const RunFolder& run) {
  return std::filesystem::absolute(run.path() + "/.").lexically_normal().parent_path().filename().string();
}

/// The folder itself, or the runs of single variants in it, the baseline before layer norm.
std::vector<RunFolder> runs_in(const std::string& path) {
  const auto single = [](const std::string& folder) {
    return exists(folder + "/vocabulary.txt") || exists(folder + "/tasks.csv");
  };
  std::vector<std::string> paths{path};
  if (!single(path) && is_folder(path)) paths = entries_of(path);
  std::erase_if(paths, [&](const std::string& entry) { return !single(entry); });
  if (paths.empty()) return {open_encoder("eval", path)};
  std::vector<RunFolder> runs;
  runs.reserve(paths.size());
  for (const std::string& folder : paths) runs.push_back(open_run("skip-thoughts", "eval", folder));
  std::ranges::stable_sort(runs, std::greater<>(), norm_of);
  return runs;
}

/// The snapshots that have not been judged yet: all, or the last one and the one before any update.
std::vector<std::uint64_t> missing_snapshots(const RunFolder& run, const EvalFlags& flags) {
  std::vector<std::uint64_t> snapshots = snapshots_in(run.path());
  if (flags.last && !snapshots.empty())
    std::erase_if(snapshots, [last = snapshots.back()](std::uint64_t updates) {
      return updates != 0 && updates != last;
    });
  const std::string task_file = flags.task_file();
  if (exists(run.file(task_file)))
    for (const double done : read_table(run.file(task_file)).column("step"))
      std::erase_if(snapshots, [=](std::uint64_t updates) { return static_cast<double>(updates) == done; });
  return snapshots;
}

/// Held while a run is judged: a second eval of it waits, and then finds what is judged already. A training goes on.
Descriptor evaluation_lock(const RunFolder& run) {
  Descriptor file = open_to_read(run.path() + "/config.json");
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    std::cerr << run.path() << ": another eval judges it; this one waits for its end\n";
    ::flock(file.number(), LOCK_EX);
  }
  return file;
}

void evaluate_run(SkipCommand& skip, const RunFolder& run, const TaskData& data, const EvalFlags& flags) {
  const Descriptor lock = evaluation_lock(run);
  if (const std::string earlier = run.file(flags.task_file()); exists(earlier))
    std::cout << earlier << ": what is in it is not judged again; remove it to judge by other data\n";
  const std::vector<std::uint64_t> snapshots = missing_snapshots(run, flags);
  if (snapshots.empty()) return;
  TrainedEncoder trained(skip, run);
  const auto vectors = word_vectors_for(flags.word_vectors, trained.vocabulary, data.sentences());
  Progress progress(
      {.total = static_cast<long>(snapshots.size() * evaluation_steps(flags.options())), .unit = "fit"});
  for (const std::uint64_t updates : snapshots) {
    progress.label(text(name_of(run), ", update ", updates));
    load_model(run, trained.parameters, snapshot_file(updates));
    const WordTable words = expanded_words(flags.word_vectors, trained.words(), vectors);
    const auto representation = skip_thought_vectors(trained.encoder, words);
    const TaskScores scores = score(*representation, data, flags.options(), progress);
    append_scores(run.file(flags.task_file()), static_cast<double>(updates), scores);
    progress.line(text(name_of(run), ", update ", updates, ": ", line_of(scores)));
  }
}

/// The folder for the scores of the bag of words: a new one, or one that has its scores by another protocol.
RunFolder folder_of_words(const EvalFlags& flags) {
  if (!exists(flags.out + "/config.json"))
    return RunFolder::create(flags.out, {.experiment = "skip-thoughts",
                                         .variant = "bag-of-words",
                                         .settings = {{"norm", "bag-of-words"}, {"data", flags.data}}});
  RunFolder folder = RunFolder::open(flags.out);
  const RunConfig& config = folder.config();
  if (config.experiment != "skip-thoughts" || config.variant != "bag-of-words" ||
      config.settings.word("data") != flags.data)
    fail<UsageError>("--out ", flags.out, ": holds other results; name another folder");
  if (exists(folder.file(flags.task_file())))
    fail<UsageError>("--out ", flags.out, ": holds these scores already; name another folder");
  return folder;
}

/// The bag of words as a run of its own, so that it stands beside the others in the report.
void evaluate_words(const TaskData& data, const EvalFlags& flags) {
  std::optional<RunFolder> folder;  // before an evaluation of hours
  if (!flags.out.empty()) folder = folder_of_words(flags);
  Progress progress({.total = static_cast<long>(evaluation_steps(flags.options())), .unit = "fit"});
  progress.label("bag of words");
  const TaskScores scores = score(*bag_of_words(), data, flags.options(), progress);
  progress.finish();
  std::cout << "bag of words: " << line_of(scores) << '\n';
  if (folder) append_scores(folder->file(flags.task_file()), 0, scores);
}

void run_eval(SkipCommand& skip, const EvalFlags& flags) {
  const bool words = flags.features == "bag-of-words";
  if (words != flags.run.empty())
    fail<UsageError>("eval: give the folder of a run, or --features bag-of-words without one");
  if (words && !flags.word_vectors.empty())
    fail<UsageError>("--word-vectors: the bag of words knows every word already; leave it out");
  if (!words && !flags.out.empty())
    fail<UsageError>("--out: the scores of a run are kept in its own folder; leave it out");
  set_threads(flags.threads);
  const std::vector<RunFolder> runs = words ? std::vector<RunFolder>() : runs_in(flags.run);
  const TaskData data(flags.data);
  if (words) return evaluate_words(data, flags);
  TrainedVariants judged;
  for (const RunFolder& run : runs) {
    evaluate_run(skip, run, data, flags);
    if (!exists(run.file(flags.task_file()))) continue;
    judged.push_back(read_scores(norm_of(run), run.file(flags.task_file())));
    if (std::ranges::count(runs, norm_of(run), norm_of) > 1)  // as the report has them
      judged.back().variant.title += " (" + name_of(run) + ')';
  }
  if (judged.empty())
    fail<DataError>(flags.run, ": holds no snapshots yet; wait for the run's first evaluation");
  const std::string table = table_3(judged);
  write_file(flags.run + "/table-3.md", table);
  std::cout << '\n' << aligned_tables(table);
  if (write_figure(flags.run + "/figure-3", figure_3(judged)))
    std::cout << "\nfigure: " << flags.run << "/figure-3.svg, " << flags.run << "/figure-3.png\n";
}

}  // namespace

void add_skip_eval(Command& parent, const std::shared_ptr<SkipCommand>& skip) {
  Command& command = parent.add_command(
      "eval", "the scores of Table 3 on SICK, MR, CR, SUBJ and MPQA, for every encoder that a run has kept",
      "Example: lamina skip-thoughts eval runs/skip-thoughts --data tasks\n"
      "         lamina skip-thoughts eval --features bag-of-words --data tasks --out runs/bag-of-words");
  const auto flags = std::make_shared<EvalFlags>();
  command.add("RUN", flags->run, "folder of a run, of one variant or of several");
  command.add("--data", flags->data, "folder with the original files, or with sick/ and sentiment/")
      .required();
  command.add("--features", flags->features, "what to judge: the run's vectors, or bag-of-words alone")
      .one_of({"vectors", "bag-of-words"})
      .show_default();
  command
      .add("--inner-folds", flags->inner_folds,
           "parts that C is chosen on in each fold; the public code takes all 10")
      .range(1, 10)
      .show_default();
  command
      .add("--sick", flags->sick,
           "how SICK's regression is fitted: with a penalty whose strength the trial pairs choose, or as in "
           "the public code, by Adam until Pearson's r on the trial pairs falls")
      .one_of({"penalty", "early-stopping"})
      .show_default();
  add_word_vectors_flag(command, flags->word_vectors);
  command.add("--last", flags->last, "only the last encoder of each run, and the one before any update");
  command.add("--out", flags->out, "with bag-of-words: a folder to keep the scores in, for the report");
  add_threads_flag(command, flags->threads);
  command.action([skip, flags] { run_eval(*skip, *flags); });
}

}  // namespace lamina
