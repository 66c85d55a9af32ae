// lamina handwriting: Section 6.5 and Figure 5. Trains the synthesis network on lines of handwriting with each chosen
// normalization; `write` writes a text with a trained network, `pen` with the synthetic pen.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/threads/parallel.h"
#include "models/handwriting/data/iam.h"
#include "models/handwriting/experiment.h"
#include "models/handwriting/picture.h"
#include "models/pictures/picture_file.h"
#include "models/text/utf8.h"
#include "tools/bench/timed_steps.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/training_command.h"

namespace lamina {

namespace {

using namespace handwriting;

using Lines = std::vector<std::vector<PenPoint>>;

struct WriteFlags {
  std::string run, text, prime;
  double bias = 0.5;
  size_t seed = 1;
  bool stages = false;
};

/// Writes lines as NAME.svg and NAME.png into a run's folder.
void save_lines(const RunFolder& folder, const std::string& name, const Lines& lines) {
  write_picture(folder.file(name + ".svg"), svg_of(lines));
  write_png(folder.file(name + ".png"), image_of(lines));
  std::cout << folder.config().variant << ": " << folder.file(name + ".svg") << ", "
            << folder.file(name + ".png") << '\n';
}

/// A text that the network knows all characters of, and of a length that it can be written in one line.
void require_text(const std::string& text) {
  constexpr size_t most_characters = 1000;
  if (const size_t count = symbols_of(text).size(); count > most_characters)
    fail<UsageError>("write: the text has ", count, " characters; give at most ", most_characters,
                     " at a time");
  std::string strange;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view own = take_bytes_of_character(rest);
    if (symbol_of(own.front()) == unknown_symbol && strange.find(own) == std::string::npos) strange += own;
  }
  if (!strange.empty())
    fail<UsageError>("write: the network does not know '", strange,
                     "'; it writes letters, space, full stop, comma and apostrophe");
  if (text.empty()) fail<UsageError>("write: the text is empty; give one in quotes");
}

/// The line to imitate. Tablets have units of their own, so its offsets are divided by their own deviations.
std::optional<handwriting::Line> prime_line(const std::string& file) {
  if (file.empty()) return {};
  const auto strokes =
      read_strokes(file);  // before its text: of a file that is not there this is what to say
  Data alone{.train = {line_of(strokes, text_of(file))}, .test = {}, .source = {}};
  normalize(alone);
  return alone.train.front();
}

/// The models that a run kept on its way, then the last.
std::vector<std::string> stages_of(const RunFolder& folder) {
  std::vector<std::string> files;
  for (std::uint64_t updates = updates_per_report; exists(folder.file(stage_file(updates))); updates *= 2)
    files.push_back(stage_file(updates));
  files.emplace_back("model.safetensors");
  return files;
}

class HandwritingCommand final : public TrainingCommand {
 public:
  explicit HandwritingCommand(Command& command)
      : TrainingCommand(command, handwriting_step(), {.epochs = {.paper = 10, .small = 2}, .batch = 8}) {
    fields.add("--length", length_, "points of a line that are used; the rest is cut off")
        .range(2, 1000000)
        .show_default();
    fields.add("--updates", updates_, "updates in all, instead of --epochs")
        .positive()
        .excludes(*epochs_flag);
  }

  /// With the network of one run.
  void write_with(const RunFolder& folder, const WriteFlags& flags) const {
    Parameters parameters(0);
    const Model network(parameters, model());
    const auto written = [&](const std::string& file) {
      load_model(folder, parameters, file);
      return write(
          network, flags.text,
          {.bias = static_cast<real>(flags.bias), .seed = flags.seed, .prime = prime_line(flags.prime)});
    };
    if (flags.stages) {
      Lines lines;
      for (const std::string& file : stages_of(folder)) lines.push_back(written(file).points);
      save_lines(folder, "stages", lines);
      return;
    }
    const Writing writing = written("model.safetensors");
    save_lines(folder, "writing", {writing.points});
    write_png(folder.file("window.png"), window_image_of(writing, flags.text));
    std::cout << "the window's way over the text: " << folder.file("window.png") << '\n';
    if (!writing.finished)
      std::cout << "the window did not reach the end of the text; train for longer, or try another --seed\n";
  }

 private:
  TrainingData load() override {
    data_ = !data_folder.empty() ? load_iam(data_folder)
            : smoke > 0          ? synthetic_lines(seed, 64, 16)
                                 : synthetic_lines(seed);
    return {.source = data_->source, .cases = data_->train.size()};
  }

  Outcome train_variant(const RunFolder& folder, const RunLabel& label) override {
    HandwritingExperiment experiment(
        *data_,
        {.model = model(), .batch = batch(), .length = length_, .learning_rate = rate(), .seed = seed},
        folder);
    const std::uint64_t updates = updates_in_all(updates_, experiment.steps_per_epoch());
    return train(folder, experiment.parameters, experiment.adam, experiment,
                 plan_in_periods(label, updates, updates_per_report, "report"));
  }

  std::string summary(const TrainedVariants& trained) const override {
    return table_of(trained,
                    {title_column("variant"), last("updates", "step", "%.0f"),
                     lowest_bold(last("train NLL", "train_nll", "%.1f")),
                     lowest_bold(last("test NLL", "test_nll", "%.1f")),
                     lowest_bold(at_lowest("test_nll", "lowest test NLL", "test_nll", "%.1f")),
                     at_lowest("test_nll", "at update", "step", "%.0f"), last("seconds", "seconds", "%.0f")});
  }

  /// Figure 5: the negative log likelihood of a line against updates on a log axis.
  std::vector<Panel> figure(const TrainedVariants& trained) const override {
    std::vector<Panel> panels;
    for (const std::string set : {"train", "test"})
      panels.push_back(panel_of(
          trained, {.title = set + " lines", .x_label = "updates", .y_label = "nats per line", .log_x = true},
          "step", set + "_nll"));
    return panels;
  }

  /// Lines longer than 1000 points are trained with checkpoints, in a fraction of the memory.
  ModelOptions model() const {
    constexpr size_t longest_without_checkpoints = 1000, paper_units = 400, small_units = 100;
    return {.norm = norm(),
            .hidden = paper() ? paper_units : small_units,
            .checkpoint = length_ > longest_without_checkpoints};
  }

  size_t length_ = 500, updates_ = 0;
  std::optional<Data> data_;
};

void add_write(Command& command, const std::shared_ptr<HandwritingCommand>& handwriting) {
  Command& write = command.add_command(
      "write", "writes a text with a trained network: writing.svg, writing.png and window.png in its folder",
      "Example: lamina handwriting write runs/handwriting \"any text\" --bias 0.5 --seed 7\n"
      "         lamina handwriting write runs/handwriting \"any text\" --prime line.xml");
  const auto flags = std::make_shared<WriteFlags>();
  write.add("RUN", flags->run, "folder of the run").required();
  write.add("TEXT", flags->text, "in quotes").required();
  write.add("--bias", flags->bias, "0 writes as it has learned, more is neater")
      .range(0.0, 20.0)
      .show_default();
  write.add("--seed", flags->seed, "of the draws").non_negative().show_default();
  write.add("--prime", flags->prime,
            "file of strokes as IAM-OnDB has them, with its text, whose hand is imitated");
  write.add("--stages", flags->stages,
            "instead, the same text by the models kept after 200, 400, 800, ... updates: stages.svg and "
            "stages.png");
  write.action([handwriting, flags] {
    require_text(flags->text);
    set_threads(1);  // a point at a time is too little to share
    handwriting->for_each_run("write", flags->run,
                              [&](const RunFolder& folder) { handwriting->write_with(folder, *flags); });
  });
}

struct PenFlags {
  std::string text, out = "pen.xml";
  size_t hand = 0, seed = 1;
};

std::string beside(const std::string& file, const char* ending) {
  return std::filesystem::path(file).replace_extension(ending).string();
}

/// What is put beside the strokes must replace nothing but what was put there with them before.
void require_place_of_strokes(const std::string& file) {
  for (const char* const ending : {".txt", ".svg", ".png"}) {
    if (std::filesystem::path(file).extension() == ending)
      fail<UsageError>("--out ", file, ": ", ending,
                       " is for what is put beside the strokes; give the file another ending, as in ",
                       beside(file, ".xml"));
    if (!exists(file) && exists(beside(file, ending)))
      fail<UsageError>("--out ", file, ": ", beside(file, ending),
                       " would be replaced; give the file another name, or move that one away");
  }
}

/// Writes FILE.xml and .txt as IAM-OnDB has them, and pictures beside them.
void run_pen(const PenFlags& flags) {
  require_place_of_strokes(flags.out);
  if (std::ranges::any_of(flags.text, [](char c) { return c < ' ' || c > '~'; }))
    fail<UsageError>("pen: the text has characters that are not printable ASCII; leave them out");
  const std::vector<PenPoint> points =
      write_text(flags.text, draw_hand(flags.seed, flags.hand), Random(flags.seed, flags.hand));
  if (points.empty()) fail<UsageError>("pen: no printable characters in the text; give some in quotes");
  write_strokes(flags.out, points, flags.text);
  write_picture(beside(flags.out, ".svg"), svg_of({points}));
  write_png(beside(flags.out, ".png"), image_of({points}));
  std::cout << flags.out;
  for (const char* const ending : {".txt", ".svg", ".png"}) std::cout << ", " << beside(flags.out, ending);
  std::cout << '\n';
}

void add_pen(Command& command) {
  Command& pen =
      command.add_command("pen", "writes a text with the synthetic pen: strokes as IAM-OnDB has them",
                          "Example: lamina handwriting pen \"Any printable ASCII!\" --hand 7 --out line.xml");
  const auto flags = std::make_shared<PenFlags>();
  pen.add("TEXT", flags->text, "in quotes; any printable ASCII").required();
  pen.add("--hand", flags->hand, "whose; 0 to 99 write the built-in lines").non_negative().show_default();
  pen.add("--seed", flags->seed, "of the hands and the writing").non_negative().show_default();
  pen.add("--out", flags->out, "file; its text and pictures are put beside it").show_default();
  pen.action([flags] { run_pen(*flags); });
}

/// At the paper's size: lines of 500 points and 30 characters.
TrainingStep step_on_random_lines(const TrainingStepOptions& options) {
  constexpr size_t steps = 500, characters = 30;
  const auto parameters = std::make_shared<Parameters>(1);
  const auto model = std::make_shared<Model>(*parameters, ModelOptions{.norm = options.norm});
  Random random(3);
  std::vector<std::vector<int>> texts(options.batch, std::vector<int>(characters));
  for (std::vector<int>& text : texts)
    for (int& symbol : text) symbol = static_cast<int>(random.below(symbol_count));
  const auto batch = std::make_shared<Batch>();
  *batch = {.points = normal({steps + 1, options.batch, 3}),
            .mask = Tensor::ones({steps, options.batch}),
            .texts = TextBatch(texts)};
  for (size_t i = 2; i < batch->points.size(); i += 3)
    batch->points[i] = random.uniform() < real(0.05) ? real(1) : real(0);
  return {.parameters = parameters,
          .loss = [=] { return model->loss(*batch) / static_cast<real>(options.batch); }};
}

}  // namespace

NamedTrainingStep handwriting_step() {
  return {
      .name = "handwriting", .norms = {Norm::layer, Norm::none}, .batch = 8, .make = step_on_random_lines};
}

void add_handwriting_command(Command& program) {
  Command& command = program.add_command(
      "handwriting", "handwriting synthesis, a network that writes a text (Section 6.5, Figure 5)",
      "Example: lamina handwriting --norm none,layer --updates 4000 --out runs/handwriting");
  const auto handwriting = std::make_shared<HandwritingCommand>(command);
  add_write(command, handwriting);
  add_pen(command);
  command.action([handwriting] { return handwriting->run(); });
}

}  // namespace lamina
