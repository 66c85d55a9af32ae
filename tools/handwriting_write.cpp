#include "tools/handwriting_write.h"

#include <filesystem>
#include <iostream>

#include "core/file.h"
#include "core/folder.h"
#include "core/parallel.h"
#include "models/common/picture_file.h"
#include "models/common/training.h"
#include "models/handwriting/experiment.h"
#include "models/handwriting/iam.h"
#include "models/handwriting/picture.h"
#include "tools/variant_command.h"

namespace lamina {

namespace {

using namespace handwriting;

using Lines = std::vector<std::vector<PenPoint>>;

struct WriteFlags {
  std::string run, text, prime;
  double bias = 0.5;
  std::int64_t seed = 1;
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
const std::string& required_text(const std::string& text) {
  constexpr size_t most_characters = 1000;
  if (text.size() > most_characters)
    fail<UsageError>("write: the text has ", text.size(), " characters; give at most ", most_characters,
                     " at a time");
  std::string strange;
  for (const char c : text)
    if (symbol_of(c) == unknown_symbol && strange.find(c) == std::string::npos) strange += c;
  if (!strange.empty())
    fail<UsageError>("write: the network does not know '", strange,
                     "'; it writes letters, space, full stop, comma and apostrophe");
  if (text.empty()) fail<UsageError>("write: the text is empty; give one in quotes");
  return text;
}

/// The line to imitate. Tablets have units of their own, so its offsets are divided by their own deviations.
std::optional<handwriting::Line> prime_line(const std::string& file) {
  if (file.empty()) return {};
  Data alone{.train = {line_of(read_strokes(file), text_of(file))}, .test = {}, .source = {}};
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

void write_with(const RunFolder& folder, const WriteFlags& flags) {
  CommonFlags trained;
  from_settings(folder.config().settings, trained);
  Parameters parameters(0);
  const Model model(parameters, handwriting_model(trained, trained.norms.front()));
  const auto written = [&](const std::string& file) {
    load_model(folder, parameters, file);
    return write(model, flags.text,
                 {.bias = static_cast<real>(flags.bias),
                  .seed = static_cast<std::uint64_t>(flags.seed),
                  .prime = prime_line(flags.prime)});
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

/// With the network of one run, or of every variant in the folder of several.
int run_write(const WriteFlags& flags) {
  required_text(flags.text);
  const RunFolder whole = RunFolder::open(flags.run);
  if (whole.config().experiment != "handwriting")
    fail<UsageError>("write ", flags.run, ": a run of lamina ", whole.config().experiment,
                     "; give the folder of a run of lamina handwriting");
  set_threads(1);  // a point at a time is too little to share
  CommonFlags trained;
  from_settings(whole.config().settings, trained);
  const auto variants = variants_of(trained);
  for (const Variant& variant : variants)
    write_with(variants.size() == 1 ? whole : RunFolder::open(whole.file(variant.name())), flags);
  return 0;
}

struct PenFlags {
  std::string text, out = "pen.xml";
  std::int64_t hand = 0, seed = 1;
};

/// Writes FILE.xml and .txt as IAM-OnDB has them, and pictures beside them.
int run_pen(const PenFlags& flags) {
  const auto seed = static_cast<std::uint64_t>(flags.seed), number = static_cast<std::uint64_t>(flags.hand);
  const std::vector<PenPoint> points = write_text(flags.text, draw_hand(seed, number), Random(seed, number));
  if (points.empty()) fail<UsageError>("pen: no printable characters in the text; give some in quotes");
  write_strokes(flags.out, points, flags.text);
  const auto beside = [&](const char* ending) {
    return std::filesystem::path(flags.out).replace_extension(ending).string();
  };
  write_picture(beside(".svg"), svg_of({points}));
  write_png(beside(".png"), image_of({points}));
  std::cout << flags.out << ", " << beside(".txt") << ", " << beside(".svg") << ", " << beside(".png")
            << '\n';
  return 0;
}

}  // namespace

ModelOptions handwriting_model(const CommonFlags& flags, const std::string& norm) {
  constexpr std::int64_t longest_without_checkpoints = 1000;
  return {.norm = norm_from(norm),
          .hidden = flags.preset == "paper" ? size_t{400} : size_t{100},
          .checkpoint = flags.own.get<std::int64_t>("length") > longest_without_checkpoints};
}

void add_handwriting_write(Command& command) {
  Command& write = command.add_command(
      "write", "writes a text with a trained network: writing.svg, writing.png and window.png in its folder");
  write.footer(
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
            "instead, the same text by the models kept after 200, 400, 800, ... updates: stages.svg");
  write.action([flags] { return run_write(*flags); });
}

void add_handwriting_pen(Command& command) {
  Command& pen =
      command.add_command("pen", "writes a text with the synthetic pen: strokes as IAM-OnDB has them");
  pen.footer("Example: lamina handwriting pen \"Any printable ASCII!\" --hand 7 --out line.xml");
  const auto flags = std::make_shared<PenFlags>();
  pen.add("TEXT", flags->text, "in quotes; any printable ASCII").required();
  pen.add("--hand", flags->hand, "whose; 0 to 99 write the built-in lines").non_negative().show_default();
  pen.add("--seed", flags->seed, "of the hands and the writing").non_negative().show_default();
  pen.add("--out", flags->out, "file; its text and pictures are put beside it").show_default();
  pen.action([flags] { return run_pen(*flags); });
}

}  // namespace lamina
