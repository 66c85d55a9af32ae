// lamina skip-thoughts: Section 6.3, Figure 3 and Table 3. Trains skip-thought vectors with each chosen
// normalization; what comes out of it is in skip_vectors.cpp.

#include "tools/commands/experiments/skip_thoughts.h"
#include "core/files/folder.h"
#include "models/skip_thoughts/model.h"
#include "tools/bench/timed_steps.h"
#include "tools/commands/commands.h"

namespace lamina {

using namespace skip_thoughts;

namespace {

/// At the paper's size, on sentences of 20 words, each decoder conditioned at every step.
TrainingStep step_on_random_sentences(const TrainingStepOptions& options) {
  constexpr size_t words = 20;
  const auto parameters = std::make_shared<Parameters>(1);
  const ModelOptions sizes{.norm = options.norm, .condition = Condition::every_step};
  const auto model = std::make_shared<Model>(*parameters, sizes);
  const auto sentences = [&](std::uint64_t seed) {
    return random_sentences(words, options.batch, sizes.sizes.vocabulary, seed);
  };
  const auto data = std::make_shared<Neighbours>();
  *data = {.previous = sentences(3), .current = sentences(4), .next = sentences(5)};
  return {.parameters = parameters, .loss = [=] { return model->loss(*data); }};
}

}  // namespace

NamedTrainingStep skip_thoughts_step() {
  return {.name = "skip-thoughts",
          .norms = {Norm::layer, Norm::none},
          .batch = 64,
          .make = step_on_random_sentences,
          .clips = true};
}

SkipCommand::SkipCommand(Command& command)
    : TrainingCommand(command, skip_thoughts_step(),
                      {.epochs = {preset_of("paper").epochs, preset_of("small").epochs},
                       .batch = SkipOptions().batch,
                       .learning_rate = {SkipOptions().learning_rate, SkipOptions().learning_rate}}) {
  fields
      .add("--condition", condition_,
           "how the encoding reaches the decoders: as their first state, or as an input of every step")
      .one_of({"initial", "every-step"})
      .show_default();
  fields
      .add("--evaluate-every", evaluate_every_,
           "updates between evaluations, each of which keeps the encoder; 50,000 in the paper",
           {preset_of("paper").evaluate_every, preset_of("small").evaluate_every})
      .positive();
  fields.keep("embedding", embedding_);
  fields.keep("hidden", hidden_);
  fields.add("--lazy", lazy_,
             "update only the embeddings of words in the batch (lazy Adam); faster, and not Adam's result",
             {.required = false});
  add_optimizer_flag({"adam", "authors-adam", "sgd"});
}

/// Small embeddings are half as wide, and GRUs a quarter.
void SkipCommand::complete() {
  if (hidden_ > 0) return;
  const SkipOptions options = preset_of(preset).options;
  embedding_ = smoke > 0 ? 30 : options.embedding;
  hidden_ = smoke > 0 ? 60 : options.hidden;
}

SkipOptions SkipCommand::options() const {
  return {.norm = norm(),
          .condition = condition_ == "initial" ? Condition::initial : Condition::every_step,
          .embedding = embedding_,
          .hidden = hidden_,
          .batch = batch(),
          .optimizer = optimizer_kind(),
          .learning_rate = learning_rate,
          .lazy = lazy_,
          .seed = seed};
}

/// The books in --data, or the built-in stories.
Corpus SkipCommand::corpus() const {
  const Preset sizes = preset_of(preset);
  if (data_folder.empty()) return synthetic_stories(seed, smoke > 0 ? 150 : sizes.stories);
  constexpr size_t without_a_word = 2;  // <eos> and <unk>
  return saved_.empty() ? scan_books(data_folder, sizes.vocabulary - without_a_word) : load_books(saved_);
}

/// What an earlier sitting of the run in --out knows about the books, if there was one.
void SkipCommand::find_saved_corpus() {
  std::vector<std::string> folders{out};
  for (const Variant& variant : variants()) folders.push_back(out + "/" + variant.name);
  for (const std::string& folder : folders)
    if (saved_.empty() && exists(folder + "/passages.tsv")) saved_ = folder;
}

const Corpus& SkipCommand::corpus_of(const RunFolder& run) {
  if (exists(run.file("passages.tsv"))) saved_ = run.path();
  load_again(run);
  return *corpus_;
}

TrainingData SkipCommand::load() {
  if (resume) find_saved_corpus();
  corpus_ = corpus();
  return {.source = corpus_->source, .cases = corpus_->sentences()};
}

Outcome SkipCommand::train_variant(const RunFolder& folder, const RunLabel& label) {
  SkipExperiment experiment(*corpus_, options(), folder);
  return train(folder, experiment.parameters, *experiment.optimizer, experiment,
               plan_in_periods(label, updates_in(epochs, experiment.steps_per_epoch()), evaluate_every_,
                               "evaluation"));
}

std::string SkipCommand::summary(const TrainedVariants& trained) const {
  return table_of(
      trained,
      {title_column("variant"), last("updates", "step", "%.0f"), last("epochs", "epoch", "%.2f"),
       lowest_bold(last("train nats per word", "train_nll", "%.3f")),
       lowest_bold(last("held-out nats per word", "valid_nll", "%.3f")), last("seconds", "seconds", "%.0f")});
}

/// What the neighbours of a sentence cost, on the text that is learned and on what is held out.
std::vector<Panel> SkipCommand::figure(const TrainedVariants& trained) const {
  std::vector<Panel> panels;
  for (const auto& [column, title] :
       {std::pair("valid_nll", "text held out"), std::pair("train_nll", "text that is learned")})
    panels.push_back(panel_of(trained, {.title = title, .x_label = "updates", .y_label = "nats per word"},
                              "step", column));
  return panels;
}

void add_skip_thoughts_command(Command& program) {
  Command& command = program.add_command(
      "skip-thoughts", "sentence vectors from the sentences around (Section 6.3, Figure 3, Table 3)",
      "Example: lamina skip-thoughts --data books --norm none,layer --out runs/skip-thoughts\n"
      "         lamina skip-thoughts eval runs/skip-thoughts --data tasks");
  const auto skip = std::make_shared<SkipCommand>(command);
  add_skip_encode(command, skip);
  add_skip_eval(command, skip);
  add_skip_neighbours(command, skip);
  command.action([skip] { return skip->run(); });
}

}  // namespace lamina
