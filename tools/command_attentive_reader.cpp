// lamina attentive-reader: Section 6.2 and Figure 2. Trains the five variants of the figure, or the chosen
// ones, one after the other and compares them; `show` tells where a trained reader looked.

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <sstream>

#include "core/file.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "models/attentive_reader/experiment.h"
#include "models/attentive_reader/heat_map.h"
#include "tools/commands.h"
#include "tools/common_flags.h"
#include "tools/flag_value.h"
#include "tools/reader_report.h"
#include "tools/training_runs.h"

namespace lamina {

namespace {

using namespace attentive_reader;

struct ReaderFlags {
  CommonFlags common;
  std::vector<double> gains;        ///< of layer norm; empty, with no --norm: 1 and 0.1
  std::int64_t updates = 0;         ///< 0: the preset's, or by --epochs
  std::int64_t validate_every = 0;  ///< 0: the preset's
  std::int64_t sentences = 4;       ///< 0: whole passages
  std::string answers = "entities", padding = "zeros";
  std::vector<ReaderVariant> variants;
};

/// All that was chosen, or the five curves of Figure 2.
std::vector<ReaderVariant> variants_of(const ReaderFlags& flags, bool norm_given) {
  const std::vector<std::string> all{"none", "batch", "batch-everywhere", "layer"};
  const bool everything = !norm_given && flags.gains.empty();
  if (!flags.gains.empty() && std::ranges::find(flags.common.norms, "layer") == flags.common.norms.end())
    fail<UsageError>(
        "--gain: only layer norm's gains are set, and --norm does not name it; add layer to "
        "--norm or leave --gain out");
  const std::vector<double> gains = !flags.gains.empty() ? flags.gains
                                    : everything         ? std::vector<double>{1, 0.1}
                                                         : std::vector<double>{1};
  std::vector<ReaderVariant> variants;
  for (const std::string& norm : everything ? all : flags.common.norms) {
    if (norm != "layer") variants.push_back({norm});
    if (norm == "layer")
      for (const double gain : gains) variants.push_back({norm, gain});
  }
  return variants;
}

/// What the user left open is the preset's.
void fill_in_preset(ReaderFlags& flags) {
  CommonFlags& common = flags.common;
  const bool paper = common.preset == "paper";
  if (flags.updates == 0 && common.epochs == 0) flags.updates = paper ? 800000 : 1500;
  if (common.batches.empty()) common.batches = {64};
  if (common.learning_rate == 0) common.learning_rate = paper ? 8e-5 : 1e-3;
  if (flags.validate_every == 0) flags.validate_every = paper ? 1000 : 100;
}

/// "none,layer,layer" as "norm" and the gains of the layer norms among them, "1,0.1", as "gain".
Settings to_settings(const ReaderFlags& flags) {
  Settings settings = to_settings(flags.common);
  std::string norms, gains;
  for (const ReaderVariant& variant : flags.variants) {
    norms += text(norms.empty() ? "" : ",", variant.norm);
    if (variant.norm == "layer") gains += text(gains.empty() ? "" : ",", variant.gain);
  }
  settings.set("norm", norms);
  if (!gains.empty()) settings.set("gain", gains);
  settings.set("updates", flags.updates);
  settings.set("validate_every", flags.validate_every);
  settings.set("sentences", flags.sentences);
  settings.set("answers", flags.answers);
  settings.set("padding", flags.padding);
  return settings;
}

double gain_from(const std::string& word) {
  const auto gain = real_number(word);
  if (!gain)
    fail<DataError>("config.json: setting 'gain' holds '", word,
                    "', which is no number; restore the value that was written");
  return *gain;
}

void from_settings(const Settings& settings, ReaderFlags& flags) {
  from_settings(settings, flags.common);
  flags.updates = settings.get<std::int64_t>("updates");
  flags.validate_every = settings.get<std::int64_t>("validate_every");
  flags.sentences = settings.get<std::int64_t>("sentences");
  flags.answers = settings.get<std::string>("answers");
  flags.padding = settings.get<std::string>("padding");
  std::istringstream gains(settings.has("gain") ? settings.get<std::string>("gain") : "");
  flags.variants.clear();
  for (const std::string& norm : flags.common.norms) {
    flags.variants.push_back({norm});
    std::string gain;
    if (norm == "layer" && std::getline(gains, gain, ',')) flags.variants.back().gain = gain_from(gain);
  }
}

ReaderOptions options_of(const ReaderVariant& variant, const ReaderFlags& flags) {
  const size_t width = flags.common.preset == "paper" ? 240 : 64;
  const bool everywhere = variant.norm == "batch-everywhere";
  return {
      .norm = norm_from(everywhere ? "batch" : variant.norm),
      .everywhere = everywhere,
      .gain = variant.norm == "layer" ? static_cast<real>(variant.gain) : 0,
      .embedding = width,
      .hidden = width,
      .numbering = {.answers = flags.answers == "entities" ? AnswerSpace::entities : AnswerSpace::vocabulary,
                    .padding = flags.padding == "cyclic" ? Padding::cyclic : Padding::zeros},
      .batch = static_cast<size_t>(flags.common.batches.front()),
      .learning_rate = static_cast<real>(flags.common.learning_rate),
      .seed = static_cast<std::uint64_t>(flags.common.seed)};
}

Data load_data(const ReaderFlags& flags) {
  if (!flags.common.data.empty())
    return load_questions(flags.common.data, static_cast<size_t>(flags.sentences));
  StorySizes sizes;
  if (flags.common.preset == "small") sizes.events = 5;
  if (flags.common.smoke > 0) sizes.train = 320, sizes.valid = sizes.test = 64;
  return built_in_stories(static_cast<std::uint64_t>(flags.common.seed), sizes);
}

/// How many updates --updates and --epochs ask for.
std::uint64_t updates_of(const ReaderFlags& flags, std::uint64_t steps_per_epoch) {
  const auto asked = flags.updates > 0
                         ? static_cast<std::uint64_t>(flags.updates)
                         : updates_in(static_cast<std::uint64_t>(flags.common.epochs), steps_per_epoch);
  const auto smoke = static_cast<std::uint64_t>(flags.common.smoke);
  return smoke > 0 ? std::min(asked, smoke * steps_per_epoch) : asked;
}

/// Trains a variant, tests its best model and adds what came of it to the results.
Outcome run_variant(const RunFolder& folder, const ReaderVariant& variant, const ReaderFlags& flags,
                    const Data& data, std::vector<ReaderResult>& results) {
  ReaderExperiment experiment(data, options_of(variant, flags), folder);
  const Outcome outcome =
      train(folder, experiment.parameters, experiment.adam, experiment,
            plan_in_periods(title_of(variant), updates_of(flags, experiment.steps_per_epoch()),
                            static_cast<std::uint64_t>(flags.validate_every), "validation"));
  if (outcome == Outcome::interrupted) return outcome;
  const ReaderTest test = experiment.test();
  results.push_back({.variant = variant, .curves = read_table(folder.file("metrics.csv")), .test = test});
  return outcome;
}

int train_variants(ReaderFlags flags, bool norm_given) {
  flags.variants = variants_of(flags, norm_given);
  const std::optional<RunFolder> resumed =
      folder_to_resume("attentive-reader", flags.common, to_settings(flags));
  if (resumed)
    from_settings(resumed->config().settings, flags);
  else
    fill_in_preset(flags);
  set_threads(flags.common.threads);
  const Data data = load_data(flags);
  if (flags.common.batches.size() > 1) fail<UsageError>("--batch: one size at a time");
  require_fitting(flags.common, data.train.count, "training questions");
  std::vector<ReaderResult> results;
  return train_all(
      {.command = "attentive-reader",
       .source = data.source,
       .names = names_of(flags.variants),
       .settings = to_settings(flags),
       .settings_alone =
           [&](size_t i) {
             ReaderFlags own = flags;
             own.variants = {flags.variants[i]};
             return to_settings(own);
           },
       .train = [&](const RunFolder& folder,
                    size_t i) { return run_variant(folder, flags.variants[i], flags, data, results); },
       .summary = [&] { return summary(results); },
       .figure = [&] { return figure(results); }},
      resumed, flags.common.out);
}

// --- Showing

struct ShowFlags {
  std::string run;
  std::int64_t number = 0;
  bool test = false;
  int threads = 0;
};

/// What the model sees in a question, with its `count` likeliest answers.
Reading read(const ReaderExperiment& experiment, const Data& data, const ReaderOptions& options,
             const Question& question, size_t count) {
  const Answers answers = experiment.answer({&question, 1});
  Reading reading{.question = question, .weights = {}, .answers = {}};
  for (const real weight : answers.attention.values()) reading.weights.push_back(static_cast<double>(weight));
  const Tensor probabilities = softmax(answers.logits);
  for (size_t i = 0; i < probabilities.size(); ++i)
    reading.answers.emplace_back(word_of_output(data, options.numbering.answers, i),
                                 static_cast<double>(probabilities[i]));
  std::ranges::stable_sort(reading.answers, std::ranges::greater(), &std::pair<std::string, double>::second);
  reading.answers.resize(std::min(count, reading.answers.size()));
  return reading;
}

/// One question as a heat map, on the terminal and in the run's folder as a page.
int run_show(const ShowFlags& show) {
  constexpr size_t answers = 5;
  const RunFolder folder = RunFolder::open(show.run);
  if (folder.config().experiment != "attentive-reader")
    fail<UsageError>("show ", show.run, ": a run of lamina ", folder.config().experiment,
                     "; give the folder of a run of lamina attentive-reader");
  ReaderFlags flags;
  from_settings(folder.config().settings, flags);
  if (flags.variants.size() > 1)
    fail<UsageError>("show ", show.run, ": holds several runs; name one of them, as in ",
                     folder.file(flags.variants.back().name()));
  set_threads(show.threads);
  const Data data = load_data(flags);
  const Split& split = show.test ? data.test : data.valid;
  const auto number = static_cast<size_t>(show.number);
  if (number >= split.count)
    fail<UsageError>("show ", show.run, " ", number, ": the ", show.test ? "test" : "validation",
                     " questions have the numbers 0 to ", split.count - 1);
  const ReaderOptions options = options_of(flags.variants.front(), flags);
  ReaderExperiment experiment(data, options, folder);
  load_model(folder, experiment.parameters, best_model);
  const Reading reading = read(experiment, data, options, split.read(number), answers);
  const std::string page = folder.file(text(show.test ? "test-" : "validation-", number, ".html"));
  write_file(page, as_html(reading));
  std::cout << as_text(reading, isatty(STDOUT_FILENO) == 1) << "\npage: " << page << '\n';
  return 0;
}

void add_show(Command& command) {
  Command& show =
      command.add_command("show", "where a trained reader looked: a passage as a heat map (* right answer)");
  show.footer("Example: lamina attentive-reader show runs/reader/layer-gain-1 7");
  const auto flags = std::make_shared<ShowFlags>();
  show.add("RUN", flags->run, "folder of a run of one variant").required();
  show.add("N", flags->number, "number of a validation question, from 0").required().non_negative();
  show.add("--test", flags->test, "a test question instead");
  show.add("--threads", flags->threads, "worker threads; 0: one per core").range(0, 1024).show_default();
  show.action([flags] { return run_show(*flags); });
}

}  // namespace

void add_attentive_reader_command(Command& program) {
  Command& command =
      program.add_command("attentive-reader", "a reader of cloze questions (Section 6.2, Figure 2)");
  command.footer(
      "Without --norm and --gain it trains the five curves of Figure 2: none, batch, batch-everywhere, and "
      "layer with\ngains that start at 1 and at 0.1.\n"
      "Example: lamina attentive-reader --lr 1e-3 --updates 2000 --validate-every 100 --out runs/reader\n"
      "         lamina attentive-reader --data cnn --norm none,layer --out runs/cnn\n"
      "         lamina attentive-reader show runs/reader/layer-gain-1 7");
  const auto flags = std::make_shared<ReaderFlags>();
  add_common_flags(command, flags->common, {"layer", "none", "batch", "batch-everywhere"});
  command.add("--gain", flags->gains, "where layer norm's gains start, or several values separated by commas")
      .separated_by_commas()
      .positive();
  command.add("--updates", flags->updates, "how many, in place of --epochs; 800000 in the paper").positive();
  command.add("--validate-every", flags->validate_every, "updates between validations; 1000 in the paper")
      .positive();
  command
      .add("--sentences", flags->sentences,
           "with --data: keep so many sentences of a passage, the most relevant; 0: all")
      .non_negative()
      .show_default();
  command
      .add("--answers", flags->answers,
           "what the output layer chooses from: the entities, as the paper says, or all words, as its "
           "authors' "
           "code does")
      .one_of({"entities", "vocabulary"})
      .show_default();
  command
      .add("--padding", flags->padding,
           "what stands behind short passages: zeros, or the passage again and again, which then counts in "
           "batch "
           "norm's statistics, as in the authors' code")
      .one_of({"zeros", "cyclic"})
      .show_default();
  add_show(command);
  command.action([flags, &command] { return train_variants(*flags, command.given("--norm")); });
}

}  // namespace lamina
