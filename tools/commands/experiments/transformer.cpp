// lamina transformer: a language model of characters or words. Trains one with each chosen normalization and placement
// and compares them; `write` goes on with a text.

#include <algorithm>
#include <iostream>
#include <optional>

#include "core/threads/parallel.h"
#include "layers/norms/normalization.h"
#include "models/transformer/experiment.h"
#include "models/transformer/writing.h"
#include "tools/bench/timed_steps.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/training_command.h"

namespace lamina {

namespace {

using namespace transformer;

struct WriteFlags {
  std::string run, prompt;
  size_t length = 400, top_k = 0, seed = 1;
  double temperature = 0.8;
};

/// The names in a table of names.
template <class Entries>
std::vector<std::string> names_in(const Entries& table) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

class TransformerCommand final : public TrainingCommand {
 public:
  explicit TransformerCommand(Command& command)
      : TrainingCommand(command, transformer_step(),
                        {.epochs = {paper_preset.epochs, small_preset.epochs},
                         .batch = paper_preset.batch,
                         .small_batch = small_preset.batch,
                         .learning_rate = {paper_preset.learning_rate, small_preset.learning_rate}}) {
    add_text_flags();
    add_model_flags();
    add_training_flags();
  }

  /// Prints the prompt and what a trained model goes on with.
  void write(const WriteFlags& flags) {
    const RunFolder folder = open_single("write", flags.run);
    set_threads(1);  // a token at a time is too little to share
    const Alphabet alphabet = Alphabet::load(unit(), folder.path());
    const std::vector<int> prompt = numbers_of(alphabet, flags.prompt);
    Parameters parameters(0);
    Model model(parameters, with_vocabulary(model_options(), alphabet));
    load_model(folder, parameters, best_model);
    std::vector<int> all = prompt;
    const std::vector<int> written = transformer::write(
        model, prompt,
        {.length = flags.length, .temperature = flags.temperature, .top_k = flags.top_k, .seed = flags.seed});
    all.insert(all.end(), written.begin(), written.end());
    std::cout << alphabet.text_of(all) << '\n';
  }

 private:
  void add_text_flags() {
    fields.add("--book", book_,
               "with --data: one of its texts by name, such as emma for emma.txt; by default all",
               {.required = false});
    fields
        .add("--train-on", train_on_,
             "characters or words of the text to train on, the first ones; by default all. "
             "The alphabet is always that of all, so that bits can be compared",
             {.required = false})
        .positive();
    fields.add("--unit", unit_, "what is read and written one after another")
        .one_of({"character", "word"})
        .show_default();
  }

  void add_model_flags() {
    fields.add("--placement", placements_, "where the normalization stands, or several separated by commas")
        .separated_by_commas()
        .one_of(names_in(placement_table))
        .show_default("pre");
    fields.add("--positions", positions_, "how the model knows where a token stands")
        .one_of(names_in(positions_table))
        .show_default();
    fields.add("--layers", layers_, "blocks", {paper_preset.layers, small_preset.layers}).range(1, 1000);
    fields
        .add("--width", width_, "of the stream; a multiple of the heads",
             {paper_preset.width, small_preset.width})
        .range(1, 65536);
    fields.add("--heads", heads_, "of attention", {paper_preset.heads, small_preset.heads}).range(1, 1024);
    fields
        .add("--length", length_, "characters or words that the model sees at a time",
             {paper_preset.length, small_preset.length})
        .range(1, 1000000);
    fields.add("--dropout", dropout_, "share of the numbers that training leaves out")
        .range(0, 0.95)
        .show_default();
    fields
        .add("--start", start_,
             "how the weights start: as Glorot and Bengio have it, or small and smaller with more layers as "
             "in GPT-2")
        .one_of({"xavier", "gpt2"})
        .show_default();
  }

  void add_training_flags() {
    fields.add("--updates", updates_, "how many, in place of --epochs").positive().excludes(*epochs_flag);
    fields.add("--warmup", warmup_, "updates in which the learning rate rises to --lr")
        .range(0, 1e9)
        .show_default();
    fields
        .add("--decay", decay_,
             "what the learning rate does then: it stays, or falls to a tenth along half a cosine")
        .one_of({"none", "cosine"})
        .show_default();
    fields.add("--weight-decay", weight_decay_, "of matrices, decoupled from the gradient (AdamW)")
        .range(0, 10)
        .show_default();
    fields
        .add("--validate-every", validate_every_, "updates between validations",
             {paper_preset.validate_every, small_preset.validate_every})
        .positive();
    add_sync_batch_norm_flag();
    fields.add("--sample", sample_, "characters or words to write into samples.txt at each validation")
        .range(0, 1000000)
        .show_default();
  }

  /// The places where a norm that is none leaves the same model: all but those that scale it.
  std::vector<std::string> places_alike() const {
    std::vector<std::string> alike = placements_;
    std::erase_if(alike,
                  [](const auto& placement) { return placement_of(placement) == Placement::scaled_pre; });
    return alike;
  }

  /// "post-LN", or of a model without norms all the places that are the same, "post-LN = pre-LN".
  static std::string title_of_places(const std::vector<std::string>& places) {
    const auto title = [](const std::string& place) {
      return placement_table[static_cast<size_t>(placement_of(place))].title;
    };
    return joined(places, title, " = ");
  }

  /// Each norm with each placement and each batch size, the same model once.
  std::vector<Variant> variants() const override {
    const std::vector<std::string> alike = places_alike();
    std::vector<Variant> all;
    for (const size_t size : batches)
      for (const std::string& placement : placements_)
        for (const std::string& norm : norms) {
          const std::string of_batch = batches.size() > 1 ? text("-b", size) : "";
          const bool is_alike =
              norm == name_of(Norm::none) && std::ranges::find(alike, placement) != alike.end();
          if (is_alike && placement != alike.front()) continue;
          const std::string where = title_of_places(is_alike ? alike : std::vector{placement});
          all.push_back(
              {.norm = norm,
               .name = text(placement, "-", norm, of_batch),
               .title = text(where, ", ", title_of(norm), of_batch.empty() ? "" : text(", batch ", size)),
               .own = {{"norm", norm}, {"placement", placement}, {"batch", text(size)}}});
        }
    return all;
  }

  TrainingData load() override {
    require_sizes();
    const size_t stories = smoke > 0 ? 60 : paper() ? paper_preset.stories : small_preset.stories;
    if (data_folder.empty() && !book_.empty())
      fail<UsageError>("--book ", book_, ": without --data there are only built-in stories; add --data DIR");
    data_ = data_folder.empty() ? built_in_stories(unit(), seed, stories)
                                : load_books(data_folder, unit(), book_);
    const size_t all = data_->train.size();
    if (train_on_ > all && smoke == 0)
      fail<UsageError>("--train-on ", train_on_, ": the text to train on has ", all, ' ', unit_,
                       "s; choose at most ", all, ", or leave it out");
    if (smoke > 0 && !data_folder.empty()) keep_a_few_texts();
    if (train_on_ > 0 && train_on_ < data_->train.size()) data_->train.resize(train_on_);
    if (data_->train.size() < all)
      data_->source += text("; trains on the first ", data_->train.size(), " alone");
    return {.source = data_->source,
            .cases = texts_in(*data_, length_),
            .called = text("texts of ", length_, ' ', unit_, "s to train on")};
  }

  /// Enough for two updates.
  void keep_a_few_texts() {
    const auto shorten = [this](std::vector<int>& part, size_t texts) {
      part.resize(std::min(part.size(), texts * length_ + 1));
    };
    shorten(data_->train, 2 * std::ranges::max(batches) + 1);
    shorten(data_->valid, 2);
    shorten(data_->test, 2);
  }

  void require_sizes() const {
    if (width_ % heads_ != 0)
      fail<UsageError>("--width ", width_, ": it is not divisible by --heads ", heads_,
                       "; choose a multiple");
    if (positions_ == "rotary" && width_ / heads_ % 2 != 0)
      fail<UsageError>("--positions rotary: pairs of numbers are turned, and --width ", width_, " / --heads ",
                       heads_, " is odd; choose an even width of heads");
    constexpr size_t groups = NormalizationOptions{}.groups;
    if (std::ranges::find(norms, std::string(name_of(Norm::group))) != norms.end() &&
        (width_ % groups != 0 || width_ == groups))
      fail<UsageError>("--norm group: its ", groups, " groups do not divide --width ", width_,
                       " into parts of two and more; choose a multiple of ", groups, ", from ", 2 * groups,
                       " on");
  }

  Outcome train_variant(const RunFolder& folder, const RunLabel& label) override {
    const std::uint64_t updates = updates_in_all(updates_, texts_in(*data_, length_) / batch());
    TransformerExperiment experiment(*data_, options(updates), folder);
    const Outcome outcome = train(folder, experiment.parameters, experiment.adam, experiment,
                                  plan_in_periods(label, updates, validate_every_, "validation"));
    test_together(outcome, [&] {
      load_model(folder, experiment.parameters, best_model);
      experiment.write_test();
    });
    return outcome;
  }

  std::string summary(const TrainedVariants& trained) const override {
    const std::string bits = "bits per " + unit_;
    return table_of(
        trained,
        {title_column(""), last("updates", "step", "%.0f"), last("epochs", "epoch", "%.2f"),
         last("train nats", "train_nll", "%.4f"), last("last validation, " + bits, "valid_bits", "%.3f"),
         lowest_bold(at_lowest("valid_bits", "best validation", "valid_bits", "%.3f")),
         at_lowest("valid_bits", "at update", "step", "%.0f"),
         lowest_bold(tested("test of the best", "test_bits", "%.3f")), last("seconds", "seconds", "%.0f")});
  }

  /// Bits of the validation text against updates. The line tells placements apart, unless there is one norm: then the
  /// colour does.
  std::vector<Panel> figure(const TrainedVariants& trained) const override {
    Panel panel =
        panel_of(trained, {.title = "text held out", .x_label = "updates", .y_label = "bits per " + unit_},
                 "step", "valid_bits");
    const bool one_norm = std::ranges::all_of(
        trained, [&](const auto& each) { return each.variant.norm == trained.front().variant.norm; });
    constexpr std::array lines{Line::dashed, Line::solid, Line::dotted, Line::dash_dotted};
    for (size_t i = 0; i < trained.size(); ++i) {
      const auto place = static_cast<size_t>(placement_of(trained[i].variant.setting("placement")));
      if (one_norm)
        panel.curves[i].color = static_cast<int>(i);
      else
        panel.curves[i].line = lines[place];
    }
    return {panel};
  }

  ModelOptions model_options() const {
    return {.width = width_,
            .layers = layers_,
            .heads = heads_,
            .length = length_,
            .norm = norm(),
            .placement = placement_of(placements_.front()),
            .positions = *positions_named(positions_),
            .start = start_ == "gpt2" ? Start::gpt2 : Start::xavier,
            .dropout = static_cast<real>(dropout_)};
  }

  TransformerOptions options(std::uint64_t updates) const {
    return {.model = model_options(),
            .batch = batch(),
            .learning_rate = learning_rate,
            .weight_decay = weight_decay_,
            .decay = decay_ == "cosine" ? Decay::cosine : Decay::none,
            .warmup = warmup_,
            .updates = updates,
            .sample = sample_,
            .seed = seed};
  }

  static Placement placement_of(const std::string& name) {
    const auto placement = placement_named(name);
    if (!placement) fail<UsageError>("--placement ", name, ": no such placement");
    return *placement;
  }

  Unit unit() const { return unit_ == "word" ? Unit::word : Unit::character; }

  /// The numbers of a prompt that the model can go on with.
  std::vector<int> numbers_of(const Alphabet& alphabet, const std::string& prompt) const {
    std::vector<int> numbers = alphabet.numbers_of(prompt);
    if (numbers.empty())
      fail<UsageError>("write: the prompt is empty; give the beginning of a text in quotes");
    const auto quoted = [](const std::string& each) { return "'" + each + "'"; };
    const std::string strange = joined(alphabet.strange_units(prompt), quoted);
    if (!strange.empty())
      fail<UsageError>("write: the model ",
                       unit() == Unit::word ? "knows the most frequent words of its text, and not "
                                            : "was trained on a text without ",
                       strange, "; leave it out of the prompt");
    if (numbers.size() > length_)
      fail<UsageError>("write: the prompt has ", numbers.size(), ' ', unit_, "s, but the model sees at most ",
                       length_, "; shorten it");
    return numbers;
  }

  inline static const Preset paper_preset = preset_of("paper"), small_preset = preset_of("small");
  std::string book_, unit_ = "character", positions_ = "rotary", start_ = "xavier", decay_ = "cosine";
  std::vector<std::string> placements_{"pre"};
  size_t layers_ = 0, width_ = 0, heads_ = 0, length_ = 0, validate_every_ = 0;  ///< 0: the preset's
  size_t train_on_ = 0, updates_ = 0, warmup_ = 100, sample_ = 300;
  double dropout_ = 0, weight_decay_ = 0;
  std::optional<Data> data_;
};

void add_write(Command& command, const std::shared_ptr<TransformerCommand>& transformer) {
  Command& write = command.add_command(
      "write", "goes on with a text, by the best model of a run",
      "When the text is longer than what the model sees at a time (--length of the run), it forgets the "
      "older half of it.\n"
      "Example: lamina transformer write runs/emma \"It was \" --length 500 --temperature 0.8 --seed "
      "7");
  const auto flags = std::make_shared<WriteFlags>();
  write.add("RUN", flags->run, "folder of a run of one variant").required();
  write.add("PROMPT", flags->prompt, "the beginning of the text, in quotes").required();
  write.add("--length", flags->length, "characters or words to write").range(1, 1000000).show_default();
  write
      .add("--temperature", flags->temperature,
           "1 draws as the model has learned, less keeps to what is likely, 0 takes the likeliest")
      .range(0, 100)
      .show_default();
  write.add("--top-k", flags->top_k, "draw only from so many likeliest; 0: from all")
      .range(0, 1000000)
      .show_default();
  write.add("--seed", flags->seed, "of the draws").non_negative().show_default();
  write.action([transformer, flags] { transformer->write(*flags); });
}

/// The schemes that a block of a Transformer can have, layer norm first; without maps, layer_interior is layer norm.
std::vector<Norm> norms_of_blocks() {
  std::vector<Norm> norms{Norm::layer};
  for (const NormEntry& entry : norm_table)
    if (entry.vectors && entry.norm != Norm::layer && entry.norm != Norm::layer_interior)
      norms.push_back(entry.norm);
  return norms;
}

}  // namespace

NamedTrainingStep transformer_step() {
  const auto make = [](const TrainingStepOptions& options) {
    return language_model_step({.norm = options.norm, .batch = options.batch});
  };
  return {.name = "transformer", .norms = norms_of_blocks(), .batch = 16, .make = make, .clips = true};
}

void add_transformer_command(Command& program) {
  Command& command = program.add_command(
      "transformer", "a language model of characters or words: where the normalization stands, and which",
      "Example: lamina transformer --preset small --norm layer,rms --placement post,pre --out "
      "runs/transformer\n"
      "         lamina transformer --data books --book emma --out runs/emma\n"
      "         lamina transformer write runs/emma \"It was \" --length 500");
  const auto transformer = std::make_shared<TransformerCommand>(command);
  add_write(command, transformer);
  command.action([transformer] { return transformer->run(); });
}

}  // namespace lamina
