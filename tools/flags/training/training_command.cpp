#include "tools/flags/training/training_command.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "core/distributed/batch_part.h"
#include "core/distributed/group.h"
#include "core/distributed/shared_pieces.h"
#include "core/error.h"
#include "core/files/file.h"
#include "core/files/files_read.h"
#include "core/files/folder.h"
#include "core/gemm/gemm.h"
#include "core/threads/parallel.h"
#include "core/version.h"
#include "layers/norms/normalization.h"
#include "models/terminal/interrupt.h"
#include "tools/flags/flag_value.h"
#include "tools/results/aligned_table.h"
#include "tools/results/norm_table.h"
#include "tools/study/queue.h"
#include "tools/study/seeds.h"
#include "tools/study/train_study.h"

namespace lamina {

namespace {

std::vector<std::string> names_of(const std::vector<Norm>& norms, const std::vector<std::string>& more) {
  std::vector<std::string> names;
  names.reserve(norms.size() + more.size());
  for (const Norm norm : norms) names.emplace_back(name_of(norm));
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

const OptimizerEntry& optimizer_called(const std::string& name) {
  if (const OptimizerEntry* const entry = optimizer_named(name)) return *entry;
  fail<UsageError>("--optimizer ", name, ": no such optimizer; there are ",
                   joined(optimizer_table, &OptimizerEntry::name));
}

bool any_rank_interrupted() { return std::ranges::max(distributed::gather(interrupted() ? 1 : 0)) > 0; }

RunLabel label_of(const std::vector<Variant>& all, std::vector<Variant>::const_iterator one) {
  RunLabel label = one->label;
  label.number = static_cast<size_t>(one - all.begin()) + 1;
  label.of = all.size();
  for (auto later = one + 1; later != all.end(); ++later) label.later += later->work / one->work;
  return label;
}

/// "- baseline diverged: the loss is nan in step 3", a line for each variant that did.
std::string diverged_in(const std::vector<Variant>& all, const RunFolder& whole) {
  std::string lines;
  for (const Variant& variant : all)
    if (const std::string file = whole.file(variant.name) + '/' + diverged_file; exists(file)) {
      const std::string said = read_file(file);
      lines += text("- ", variant.title, " diverged: ", said.substr(0, said.find('\n')), '\n');
    }
  return lines;
}

}  // namespace

TrainingCommand::TrainingCommand(Command& command, const NamedTrainingStep& step,
                                 const CommonDefaults& defaults, const std::vector<std::string>& more_norms)
    : CommonFlags(command, names_of(step.norms, more_norms), defaults),
      command_(command),
      name_(command.name()) {
  command.for_ranks();
}

void TrainingCommand::add_optimizer_flag(const std::vector<std::string>& names) {
  const auto help = [](const std::string& name) {
    const OptimizerEntry& entry = optimizer_called(name);
    const std::string about = entry.about;
    return name + (about.empty() ? "" : ", " + about) + (entry.at_adams_rates ? "" : ", which needs --lr");
  };
  fields.add("--optimizer", optimizer_, joined(names, help, "; "), {.required = false})
      .one_of(names)
      .show_default();
}

void TrainingCommand::add_sync_batch_norm_flag() {
  fields.add("--sync-batch-norm", sync_batch_norm_,
             "with several ranks: batch norm's statistics over the whole batch, not over each rank's part",
             {.required = false});
}

OptimizerKind TrainingCommand::optimizer_kind() const { return optimizer_called(optimizer_).kind; }

std::uint64_t TrainingCommand::updates_in_all(size_t asked, std::uint64_t per_epoch) const {
  const std::uint64_t updates = asked > 0 ? asked : updates_in(epochs, per_epoch);
  return smoke > 0 ? std::min(updates, smoke * per_epoch) : updates;
}

std::vector<Variant> TrainingCommand::variants() const {
  std::vector<Variant> all;
  for (size_t i = 0; i < batches.size(); ++i)
    for (const std::string& norm_name : norms) {
      const size_t batch_size = batches[i];
      const std::string label = text(title_of(norm_name), ", batch ", batch_size);
      all.push_back({.norm = norm_name,
                     .name = text(norm_name, "-b", batch_size),
                     .title = batches.size() > 1 ? label : title_of(norm_name),
                     .label = label,
                     .own = {{"norm", norm_name}, {"batch", text(batch_size)}},
                     .line = static_cast<Line>(std::min<size_t>(i, 2)),
                     .work = 1 / static_cast<double>(batch_size)});
    }
  return all;
}

// --- Opening a run

RunFolder open_run(const std::string& experiment, const std::string& asked, const std::string& path) {
  RunFolder folder = RunFolder::open(path);
  if (folder.config().experiment != experiment)
    fail<UsageError>(asked, ' ', path, ": a run of lamina ", folder.config().experiment,
                     "; give the folder of a run of lamina ", experiment);
  return folder;
}

RunFolder TrainingCommand::open(const std::string& asked, const std::string& path) {
  RunFolder folder = open_run(name_, asked, path);
  fields.read(folder.config().settings);
  complete();
  return folder;
}

RunFolder TrainingCommand::open_single(const std::string& asked, const std::string& path) {
  RunFolder folder = open(asked, path);
  if (const std::vector<Variant> all = variants(); all.size() > 1)
    fail<UsageError>(asked, ' ', path, ": holds several runs; name one of them, as in ",
                     folder.file(all.back().name));
  return folder;
}

void TrainingCommand::for_each_run(const std::string& asked, const std::string& path,
                                   const std::function<void(const RunFolder&)>& act) {
  const RunFolder whole = open(asked, path);
  const std::vector<Variant> all = variants();
  for (const Variant& variant : all) act(all.size() == 1 ? whole : open(asked, whole.file(variant.name)));
}

// --- Training

/// Where the command line names no preset, that is the paper's for --data, and the small one for built-in data.
void TrainingCommand::fill_in_preset() {
  if (preset.empty()) preset = data_folder.empty() ? "small" : "paper";
  fields.fill_in(paper());
  if (smoke > 0) epochs = std::min(epochs, smoke);
}

/// No batch may be larger than the training set, and the epochs must not be more updates than a run can count.
void TrainingCommand::require_fitting(const TrainingData& data) const {
  for (const size_t size : batches) {
    if (size > data.cases)
      fail<UsageError>("--batch ", size, ": there are only ", data.cases, ' ', data.called,
                       "; choose a smaller one");
    updates_in(epochs, data.cases / size);
  }
}

/// Nothing where it diverged, which its message has said and keeps no other variant from its training. Ranks stop together.
std::optional<Outcome> TrainingCommand::train_one_of_several(const RunFolder& folder, const RunLabel& label) {
  try {
    return train_variant(folder, label);
  } catch (const RunDiverged& problem) {
    if (label.of == 1 || distributed::is_shared()) throw;
    std::cerr << "lamina: " << problem.what() << '\n';
    return {};
  }
}

/// An interrupt in the last evaluation of a variant leaves nothing of it to do, but the next one must not begin.
Outcome TrainingCommand::train_all(const std::vector<Variant>& all, const RunFolder& whole,
                                   TrainedVariants& trained) {
  const CatchInterrupts catching;
  const Settings settings = fields.settings();
  for (auto next = all.begin(); next != all.end(); ++next) {
    if (next != all.begin() && any_rank_interrupted()) return Outcome::interrupted;
    const Variant& variant = *next;
    fields.read(settings.with(variant.own));
    const RunFolder folder = all.size() == 1 ? whole : folder_of(variant, whole);
    const std::optional<Outcome> outcome = train_one_of_several(folder, label_of(all, next));
    if (outcome == Outcome::interrupted) return Outcome::interrupted;
    if (!outcome || outcome == Outcome::followed) continue;
    trained.push_back({variant, read_table(folder.file("metrics.csv"))});
    if (exists(folder.file("test.csv"))) trained.back().test = read_table(folder.file("test.csv"));
  }
  return Outcome::finished;
}

void TrainingCommand::finish(const std::vector<Variant>& all, const RunFolder& whole,
                             const TrainedVariants& trained) const {
  const std::string lost = diverged_in(all, whole),
                    table = summary(trained) + (lost.empty() ? "" : '\n' + lost);
  write_file(whole.file("summary.md"), table);
  std::cout << '\n' << aligned_tables(table);
  if (write_figure(whole.file("figure"), figure(trained)))
    std::cout << "\nfigure: " << whole.file("figure.svg") << ", " << whole.file("figure.png") << '\n';
}

Settings TrainingCommand::given_settings(const std::vector<Settings>& variants) const {
  const Settings all = fields.settings();
  Settings given;
  for (const auto& [name, value] : all.entries()) {
    const std::string flag = flag_of_setting(name), word = flag.substr(2);
    const bool tells_apart =
        std::ranges::any_of(variants, [&](const Settings& each) { return each.has(word); });
    if (name == "seed" || tells_apart || !command_.given(flag)) continue;
    if (name == "record")
      given.set(word, "every=" + text_of(value));
    else
      given.set(word, value);
  }
  return given;
}

int TrainingCommand::run_study() const {
  std::vector<Settings> own;
  for (const Variant& variant : variants()) {
    own.emplace_back();
    for (const auto& [name, value] : variant.own.entries())
      if (command_.has("--" + name) && !text_of(value).empty()) own.back().set(name, value);
  }
  const Study study = study_of({.experiment = name_,
                                .variants = own,
                                .settings = given_settings(own),
                                .first = seed,
                                .seeds = seeds,
                                .threads = std::max(threads, 1)});
  const std::string folder = out.empty() ? "runs/study-" + name_ : out;
  return train_study(study,
                     {.folder = folder, .words = text(name_, " --seeds ", seeds, " with the same flags")});
}

/// Ranks of other programs, settings or data would train something that none of them was asked for.
void TrainingCommand::require_same_start() const {
  distributed::require_same("the program",
                            text("lamina ", name_, ", version ", version, ", commit ", commit(), ", ",
                                 sizeof(real) == 4 ? "float" : "double", ", ", gemm_backend()));
  std::string flags = text("--out ", out, "\n--resume ", resume);
  const Settings settings = fields.settings();
  for (const auto& [name, value] : settings.entries()) flags += text("\n--", name, ' ', text_of(value));
  distributed::require_same("a flag", flags);
}

/// The cores of a machine are divided among its ranks, unless flags or LAMINA_THREADS say otherwise.
void TrainingCommand::set_threads_of_rank() {
  const size_t cores = distributed::group().cores();
  const char* const variable = std::getenv("LAMINA_THREADS");
  const bool open = threads == 0 && (variable == nullptr || *variable == '\0');
  set_threads(open ? static_cast<int>(cores) : threads);
  if (!distributed::is_shared()) return;
  const std::vector<double> all = distributed::gather(lamina::threads());
  const auto [least, most] = std::ranges::minmax(all);
  const size_t ranks = all.size(), machines = distributed::group().machines();
  std::cout << ranks << " ranks on " << machines << (machines == 1 ? " machine, " : " machines, ") << least;
  if (most > least) std::cout << " to " << most;
  std::cout << (most == 1 ? " thread each\n" : " threads each\n");
}

/// Where batch norm takes its statistics. A run of another norm that was trained beside it may be resumed alone.
void TrainingCommand::choose_statistics() const {
  if (fields.given("--sync-batch-norm") && std::ranges::none_of(norms, has_shared_statistics))
    fail<UsageError>("--sync-batch-norm: --norm names no batch norm; leave it out, or add batch to --norm");
  distributed::synchronize_statistics(sync_batch_norm_);
}

/// A ghost batch of one part has batch norm's statistics, digit for digit.
void TrainingCommand::require_parts() const {
  constexpr size_t part = NormalizationOptions{}.part;
  if (std::ranges::find(norms, std::string(name_of(Norm::ghost))) == norms.end()) return;
  for (const size_t size : batches)
    if (size < 2 * part)
      fail<UsageError>("--norm ghost-batch: its parts have ", part, " cases or more, so that --batch ", size,
                       " is one part; give --batch ", 2 * part, " or more, or --norm batch");
}

/// Each rank takes at least one case of a batch, and of a ghost batch at least one whole part.
void TrainingCommand::require_enough_for_ranks() const {
  constexpr size_t part = NormalizationOptions{}.part;
  const size_t ranks = distributed::group().size();
  const bool ghost = std::ranges::find(norms, std::string(name_of(Norm::ghost))) != norms.end();
  for (const size_t size : batches) {
    if (size < ranks)
      fail<UsageError>("--batch ", size, ": fewer cases than the ", ranks,
                       " ranks, which share each batch; choose a larger one, or start fewer ranks");
    if (ghost && ranks > 1 && size / ranks < part)
      fail<UsageError>("--norm ghost-batch: its parts have ", part, " cases or more, and each of ", ranks,
                       " ranks has ", size / ranks, " of --batch ", size, "; give --batch ", ranks * part,
                       " or more, or start fewer ranks");
  }
}

/// What is built in depends on flags and program alone.
TrainingData TrainingCommand::load_same() {
  if (resume && !data_folder.empty() &&
      !is_folder(data_folder))  // the experiment would advise to leave --data out
    fail<DataError>("--data ", data_folder, ": the run in ", out,
                    " began with that folder, which is not here; put it back, or resume from the directory "
                    "that the run began in");
  return load_noted();
}

TrainingData TrainingCommand::load_noted() {
  FilesRead files;
  TrainingData data = load();
  const std::string contents = files.contents();
  note_data(contents);
  if (distributed::is_shared())
    distributed::require_same("the data",
                              text(data.source, '\n', data.cases, ' ', data.called, '\n', contents));
  return data;
}

int TrainingCommand::run() {
  if (!resume && !optimizer_called(optimizer_).at_adams_rates && !fields.given("--lr"))
    fail<UsageError>("--optimizer ", optimizer_,
                     ": give its learning rate with --lr; that of the preset is Adam's");
  spell_out();
  require_same_start();
  const std::optional<RunFolder> resumed = folder_to_resume();
  if (!resumed) fill_in_preset();
  complete();
  if (!resumed) require_parts();
  if (seeds > 0) {
    if (distributed::is_shared())
      fail<UsageError>("--seeds ", seeds, ": a study starts processes of its own; start it without mpirun");
    if (sync_batch_norm_)
      fail<UsageError>(
          "--sync-batch-norm: each run of --seeds is one process, which has the whole batch; leave it out");
    return run_study();
  }
  choose_statistics();
  set_threads_of_rank();
  require_enough_for_ranks();
  const TrainingData data = load_same();
  if (resumed) require_same_data(*resumed);
  require_fitting(data);

  const std::vector<Variant> all = variants();
  if (all.size() > 1 && std::getenv(of_study) != nullptr)
    fail<UsageError>("it would train ", all.size(),
                     " variants; name one value of each of its lists in the study's file");
  if (all.size() > 1) require_same_variants(all, resumed ? resumed->path() : out);
  const RunFolder whole =
      resumed ? with_length(*resumed) : create(out, all.size() == 1 ? all[0].name : "all");
  std::cout << data.source << '\n';
  if (!resumed && !paper() && !fields.given("--preset"))
    std::cout << "preset small, for a first look; the paper's sizes: --preset paper\n";
  std::cout << "run folder: " << whole.path() << std::endl;
  return train_and_finish(all, whole);
}

int TrainingCommand::train_and_finish(const std::vector<Variant>& all, const RunFolder& whole) {
  TrainedVariants trained;
  const bool stopped = train_all(all, whole, trained) == Outcome::interrupted;
  if (distributed::is_first() && !trained.empty()) finish(all, whole, trained);
  if (stopped) {
    std::cout << "saved; go on with: lamina " << name_ << " --resume --out " << shell_word(whole.path())
              << '\n';
    return interrupted_exit_code;
  }
  if (!distributed::is_first() || trained.size() == all.size()) return 0;
  std::cerr << "lamina: " << all.size() - trained.size() << " of " << all.size() << " variants diverged\n";
  return 1;
}

void test_together(Outcome outcome, const std::function<void()>& test) {
  if (outcome == Outcome::interrupted) return;
  const distributed::SharedWork sharing;
  test();
}

}  // namespace lamina
