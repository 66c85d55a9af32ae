// lamina attentive-reader: Section 6.2 and Figure 2. Trains the five variants of the figure, or the chosen
// ones, one after the other and compares them; `show` tells where a trained reader looked.

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "core/files/file.h"
#include "core/listener.h"
#include "core/ops.h"
#include "core/threads/parallel.h"
#include "models/attentive_reader/experiment.h"
#include "models/attentive_reader/heat_map.h"
#include "tools/bench/timed_steps.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/training_command.h"
#include "tools/results/palette.h"

namespace lamina {

namespace {

using namespace attentive_reader;

struct ShowFlags {
  std::string run;
  size_t number = 0;
  bool test = false;
  int threads = 0;
};

/// A gain in digits of this format where they are enough, so that gains that differ have names that differ.
std::string digits_of(double gain, const char* format) {
  std::string digits = formatted(format, gain);
  return number_from(digits) == gain ? digits : number_text(gain);
}

std::string title_of(const std::string& norm, double gain) {
  if (norm == "layer") return "LN-LSTM, gain " + digits_of(gain, "%.1f");
  if (norm == "batch") return "BN-LSTM";
  return norm == "none" ? "LSTM" : "BN-everywhere";
}

/// What the model sees in a question, with its `count` likeliest answers.
Reading read(const ReaderExperiment& experiment, const Question& question, size_t count) {
  const Answers answers = experiment.answer({&question, 1});
  Reading reading{.question = question, .weights = {}, .answers = {}};
  for (const real weight : answers.attention.values()) reading.weights.push_back(static_cast<double>(weight));
  const Tensor probabilities = softmax(answers.logits);
  for (size_t i = 0; i < probabilities.size(); ++i)
    reading.answers.emplace_back(word_of_output(experiment.data(), experiment.options().numbering.answers, i),
                                 static_cast<double>(probabilities[i]));
  std::ranges::stable_sort(reading.answers, std::ranges::greater(), &std::pair<std::string, double>::second);
  reading.answers.resize(std::min(count, reading.answers.size()));
  return reading;
}

class ReaderCommand final : public TrainingCommand {
 public:
  explicit ReaderCommand(Command& command)
      : TrainingCommand(command, attentive_reader_step(),
                        {.batch = 64, .one_batch = true, .learning_rate = {.paper = 8e-5, .small = 1e-3}},
                        {"batch-everywhere"}) {
    fields
        .add("--gain", gains_, "where layer norm's gains start, or several values separated by commas",
             {.required = false})
        .separated_by_commas()
        .positive();
    add_sync_batch_norm_flag();
    fields.add("--updates", updates_, "how many, in place of --epochs; 800000 in the paper")
        .positive()
        .excludes(*epochs_flag);
    fields
        .add("--validate-every", validate_every_, "updates between validations; 1000 in the authors' code",
             {.paper = 1000, .small = 100})
        .positive();
    // Not in config.json of older runs, which had their preset's units and a dropout of 0.5.
    fields
        .add("--units", units_,
             "of each LSTM, and numbers in an embedding; 240 in the authors' code, 64 in small",
             {.required = false})
        .positive();
    fields
        .add("--dropout", dropout_,
             "of the embeddings and of the last hidden layer; 0.5 in the authors' code", {.required = false})
        .range(0, 0.99)
        .show_default();
    fields
        .add("--sentences", sentences_,
             "with --data: keep so many sentences of a passage, the most relevant; 0: all")
        .non_negative()
        .show_default();
    fields
        .add("--answers", answers_,
             "what the output layer chooses from: the entities, as the paper says, or all words, as its "
             "authors' code does")
        .one_of({"entities", "vocabulary"})
        .show_default();
    fields
        .add("--padding", padding_,
             "what stands behind short passages: zeros, or the passage again and again, which then counts in "
             "batch norm's statistics, as in the authors' code")
        .one_of({"zeros", "cyclic"})
        .show_default();
  }

  /// One question as a heat map, on the terminal and in the run's folder as a page.
  void show(const ShowFlags& flags) {
    constexpr size_t answers = 5;
    const RunFolder folder = open_single("show", flags.run);
    set_threads(flags.threads);
    load_again(folder);
    const QuestionSplit& split = flags.test ? data_->test : data_->valid;
    if (flags.number >= split.count)
      fail<UsageError>("show ", flags.run, " ", flags.number, ": the ", flags.test ? "test" : "validation",
                       " questions have the numbers 0 to ", split.count - 1);
    ReaderExperiment experiment(*data_, options(), folder);
    load_model(folder, experiment.parameters, best_model);
    const char* const of = flags.test ? "test" : "validation";
    Question question = split.read(flags.number);
    question.source = text(of, " question ", flags.number, ": ", question.source);
    const Reading reading = read(experiment, question, answers);
    const std::string name = folder.file(text(of, '-', flags.number));
    write_file(name + ".html", as_html(reading));
    write_file(name + ".svg", as_svg(reading));
    std::cout << as_text(reading, isatty(STDOUT_FILENO) == 1) << "\npage: " << name << ".html, " << name
              << ".svg\n";
  }

 private:
  /// All that was chosen, or the five curves of Figure 2: "none,batch,batch-everywhere,layer,layer" with the gains "1,0.1".
  void spell_out() override {
    if (!fields.given("--norm") && gains_.empty()) {
      norms = {"none", "batch", "batch-everywhere", "layer"};
      gains_ = {1, 0.1};
    }
    const bool layer = std::ranges::find(norms, "layer") != norms.end();
    if (!layer && !gains_.empty())
      fail<UsageError>(
          "--gain: only layer norm's gains are set, and --norm does not name it; add layer to "
          "--norm or leave --gain out");
    if (layer && gains_.empty()) gains_ = {1};
    const std::vector<std::string> chosen = std::exchange(norms, {});
    const std::vector<double> gains = std::exchange(gains_, {});
    for (const std::string& norm : chosen) {
      norms.insert(norms.end(), norm == "layer" ? gains.size() : 1, norm);
      if (norm == "layer") gains_.insert(gains_.end(), gains.begin(), gains.end());
    }
  }

  void complete() override {
    if (updates_ == 0 && epochs == 0) updates_ = paper() ? 800000 : 1500;
    if (units_ == 0) units_ = paper() ? 240 : 64;
    require_pairs();
  }

  std::vector<Variant> variants() const override {
    std::vector<Variant> all;
    auto next = gains_.begin();
    for (const std::string& norm : norms) {
      const bool layer = norm == "layer";
      const double gain = layer && next != gains_.end() ? *next++ : 1;
      all.push_back({.norm = norm,
                     .name = layer ? "layer-gain-" + digits_of(gain, "%g") : norm,
                     .title = title_of(norm, gain),
                     .own = {{"norm", norm}, {"gain", layer ? number_text(gain) : ""}},
                     .line = gain == 1 ? Line::solid : Line::dashed});
    }
    return all;
  }

  TrainingData load() override {
    StorySizes sizes;
    if (!paper()) sizes.events = 5;
    if (smoke > 0) sizes.train = 320, sizes.valid = sizes.test = 64;
    data_ = data_folder.empty() ? built_in_stories(seed, sizes) : load_questions(data_folder, sentences_);
    if (data_folder.empty() && fields.given("--sentences"))
      fail<UsageError>("--sentences ", sentences_,
                       ": built-in passages are kept whole; add --data DIR, or leave it out");
    if (batches.size() > 1) fail<UsageError>("--batch: one size at a time");
    return {.source = data_->source, .cases = data_->train.count, .called = "training questions"};
  }

  Outcome train_variant(const RunFolder& folder, const RunLabel& label) override {
    ReaderExperiment experiment(*data_, options(), folder);
    const std::uint64_t updates = updates_in_all(updates_, experiment.steps_per_epoch());
    const Outcome outcome = train(folder, experiment.parameters, experiment.adam, experiment,
                                  plan_in_periods(label, updates, validate_every_, "validation"));
    test_together(outcome, [&] { experiment.test(); });
    return outcome;
  }

  std::string summary(const TrainedVariants& trained) const override {
    const ReportColumn population =
        tested("by the population's statistics, %", "test_population_error", "%.1f", 100);
    const auto of_batch_norm = [&](const TrainedVariant& each) {
      return each.variant.norm.starts_with("batch") ? population.cell(each) : "-";
    };
    return table_of(up_to(reached_by_all(trained), trained),
                    {title_column(""),
                     last("updates", "step", "%.0f"),
                     lowest_bold(
                         at_lowest("valid_error", "lowest validation error, %", "valid_error", "%.1f", 100)),
                     at_lowest("valid_error", "at update", "step", "%.0f"),
                     lowest_bold(last("last validation error, %", "valid_error", "%.1f", 100)),
                     lowest_bold(tested("test error of the best, %", "test_error", "%.1f", 100)),
                     {population.title, of_batch_norm},
                     last("seconds", "seconds", "%.0f")}) +
           "\nWithout reading, the validation error is " + guessed(baselines_of(data_->valid)) +
           ", and the test error " + guessed(baselines_of(data_->test)) + ".\n";
  }

  static std::string guessed(const Baselines& error) {
    const auto percent = [](double fraction) { return formatted("%.1f", 100 * fraction); };
    return percent(error.chance) + "% for an entity of the passage at random, " + percent(error.frequent) +
           "% for the most frequent one, and " + percent(error.frequent_other) +
           "% for the most frequent one that is not in the question";
  }

  /// The validation error against updates, as far as all have come, and what guessing gives.
  std::vector<Panel> figure(const TrainedVariants& trained) const override {
    const TrainedVariants equal = up_to(reached_by_all(trained), trained);
    Panel panel =
        panel_of(equal, {.title = "validation questions", .x_label = "updates", .y_label = "error rate"},
                 "step", "valid_error");
    const auto add_guess = [&](const char* column, const char* title, size_t color) {
      panel.curves.push_back({.title = title,
                              .x = equal.front().curves.column("step"),
                              .y = equal.front().curves.column(column),
                              .line = Line::dotted,
                              .color = plain_color(color)});
    };
    add_guess("chance_error", "random entity", 0);
    add_guess("frequent_error", "most frequent", 1);
    add_guess("frequent_other_error", "most frequent other", 2);
    return {panel};
  }

  ReaderOptions options() const {
    const bool everywhere = norms.front() == "batch-everywhere";
    return {.norm = everywhere ? Norm::batch : norm(),
            .everywhere = everywhere,
            .gain = norms.front() != "layer" ? 0
                    : gains_.empty()         ? 1
                                             : static_cast<real>(gains_.front()),
            .embedding = units_,
            .hidden = units_,
            .dropout = static_cast<real>(dropout_),
            .numbering = {.answers = answers_ == "entities" ? AnswerSpace::entities : AnswerSpace::vocabulary,
                          .padding = padding_ == "cyclic" ? Padding::cyclic : Padding::zeros},
            .batch = batch(),
            .learning_rate = rate(),
            .seed = seed};
  }

  std::vector<double> gains_;  ///< of each layer norm among `norms`
  size_t updates_ = 0;         ///< 0: by --epochs
  size_t validate_every_ = 0, sentences_ = 4, units_ = 0;
  double dropout_ = 0.5;
  std::string answers_ = "entities", padding_ = "zeros";
  std::optional<Data> data_;
};

void add_show(Command& command, const std::shared_ptr<ReaderCommand>& reader) {
  Command& show =
      command.add_command("show", "where a trained reader looked: a passage as a heat map (* right answer)",
                          "Example: lamina attentive-reader show runs/reader/layer-gain-1 7");
  const auto flags = std::make_shared<ShowFlags>();
  show.add("RUN", flags->run, "folder of a run of one variant").required();
  show.add("N", flags->number, "number of a validation question, from 0").required().non_negative();
  show.add("--test", flags->test, "a test question instead");
  add_threads_flag(show, flags->threads);
  show.action([reader, flags] { reader->show(*flags); });
}

/// At the paper's width, without what PyTorch's case does not have (the bilinear term, the mean state, learned first
/// states, dropout): passages of 200 words, questions of 30, 20,000 words, 500 answers.
TrainingStep step_on_random_questions(const TrainingStepOptions& options) {
  const ModelOptions sizes{.norm = options.norm,
                           .vocabulary = 20000,
                           .answers = 500,
                           .bilinear = false,
                           .mean_state = false,
                           .learn_initial = false,
                           .dropout = 0};
  const auto parameters = std::make_shared<Parameters>(1);
  const auto model = std::make_shared<Model>(*parameters, sizes);
  const auto batch = std::make_shared<const QuestionBatch>(
      QuestionBatch{.passages = random_sentences(200, options.batch, sizes.vocabulary),
                    .questions = random_sentences(30, options.batch, sizes.vocabulary)});
  Random random(4);
  std::vector<int> answers(options.batch);
  for (int& answer : answers) answer = static_cast<int>(random.below(500));
  return {.parameters = parameters, .loss = [=] {
            const Answers given = (*model)(*batch, Mode::train);
            const Scope scope("loss");
            return cross_entropy(given.logits, answers);
          }};
}

}  // namespace

NamedTrainingStep attentive_reader_step() {
  return {.name = "attentive-reader",
          .norms = {Norm::layer, Norm::none, Norm::batch},
          .batch = 64,
          .make = step_on_random_questions,
          .clips = true};
}

void add_attentive_reader_command(Command& program) {
  Command& command = program.add_command(
      "attentive-reader", "a reader of cloze questions (Section 6.2, Figure 2)",
      "Without --norm and --gain it trains the five curves of Figure 2: none, batch,\n"
      "batch-everywhere, and layer with gains that start at 1 and at 0.1.\n"
      "Example: lamina attentive-reader --lr 1e-3 --updates 2000 --validate-every 100 --out runs/reader\n"
      "         lamina attentive-reader --data cnn --norm none,layer --out runs/cnn\n"
      "         lamina attentive-reader show runs/reader/layer-gain-1 7");
  const auto reader = std::make_shared<ReaderCommand>(command);
  add_show(command, reader);
  command.action([reader] { return reader->run(); });
}

}  // namespace lamina
