// lamina demo: two claims of the paper on data that come with the program, in one to two minutes of training on two cores.

#include <filesystem>
#include <functional>
#include <iostream>

#include "core/error.h"
#include "core/files/folder.h"
#include "models/run/metrics.h"
#include "models/terminal/interrupt.h"
#include "models/terminal/terminal.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/common_flags.h"
#include "tools/flags/wrapped_text.h"
#include "tools/results/aligned_table.h"
#include "tools/results/demonstration.h"
#include "tools/results/norm_table.h"

namespace lamina {

namespace {

struct DemoFlags {
  std::string out = "runs/demo";
  size_t seed = 1;
  int threads = 0;
};

/// A call of an experiment, and what of it is shown.
struct Part {
  std::string name;                   ///< of its folder
  std::vector<std::string> words;     ///< the command line, without seed, threads and folder
  std::string metric;                 ///< a column of metrics.csv
  std::vector<std::string> variants;  ///< folders of none, batch and layer
  Demonstrated shown;
};

std::vector<Part> parts() {
  return {
      {.name = "stories",
       .words = {"attentive-reader", "--preset", "small", "--norm", "none,batch,layer", "--updates", "400",
                 "--validate-every", "50"},
       .metric = "valid_error",
       .variants = {"none", "batch", "layer-gain-1"},
       .shown = {.claim =
                     "Section 6.2: an attentive reader trains faster with layer norm than without and than "
                     "with batch norm.",
                 .what = "400 updates of a reader of built-in stories (not CNN), validation error",
                 .column = "stories: validation error",
                 .entries = {}}},
      {.name = "digits",
       .words = {"mnist", "--preset", "small", "--norm", "none,batch,layer", "--batch", "4", "--epochs", "1"},
       .metric = "test_error",
       .variants = {"none-b4", "batch-b4", "layer-b4"},
       .shown = {
           .claim =
               "Section 6.6: in small batches, of 4 digits, layer norm learns faster than batch norm and "
               "than no norm.",
           .what = "one epoch of built-in digits (not MNIST) in batches of 4, test error",
           .column = "digits in batches of 4: test error",
           .entries = {}}}};
}

/// Trains the three variants as that command would. Returns its exit code.
int train_part(const Part& part, const DemoFlags& flags, const std::string& folder) {
  Command program("lamina", "");
  add_attentive_reader_command(program);
  add_mnist_command(program);
  std::vector<std::string> words = part.words;
  words.insert(words.begin(), "lamina");
  words.insert(words.end(), {"--seed", text(flags.seed), "--threads", text(flags.threads), "--out", folder});
  return program.run(words);
}

Demonstrated measured(const Part& part, const std::string& folder) {
  Demonstrated shown = part.shown;
  const std::vector<std::string> norms{"none", "batch", "layer"};
  for (size_t i = 0; i < norms.size(); ++i)
    shown.entries.push_back(
        {title_of(norms[i]),
         read_table(folder + '/' + part.variants[i] + "/metrics.csv").column(part.metric).back()});
  return shown;
}

/// Lines that fit the terminal; elsewhere one.
std::string paragraph(const std::string& words) {
  const size_t width = redraws() ? static_cast<size_t>(terminal_width()) : words.size();
  return joined(wrapped(words, width), std::identity(), "\n") + '\n';
}

/// As one calls it from here: "build/lamina" in a clone.
std::string this_program() {
  const auto path =
      std::filesystem::read_symlink("/proc/self/exe").lexically_relative(std::filesystem::current_path());
  return path.empty() || path.native().starts_with("..") ? "lamina" : path.string();
}

void conclude(const std::vector<Demonstrated>& all, const DemoFlags& flags) {
  std::cout << '\n'
            << bold("The demo") << ", seed " << flags.seed << ", the best in bold\n\n"
            << aligned_tables(demonstration_table(all)) << '\n';
  for (const Part& part : parts())
    std::cout << "picture: " << flags.out << '/' << part.name << "/figure.png\n";
  for (const Demonstrated& one : all)
    std::cout << '\n'
              << paragraph("The paper, " + one.claim)
              << paragraph(text("This run, ", one.what, ": ", shown_by(one), '.'));
  const std::string program = this_program();
  std::cout
      << '\n'
      << paragraph(
             "One seed decides nothing: --seeds 5 behind any experiment trains five and says what holds.")
      << "\nNext:\n"
      << "  " << program << " attentive-reader show " << flags.out << "/stories/layer-gain-1 7\n"
      << "      where the reader looked\n"
      << "  " << program << " list\n"
      << "      all experiments, with the time each takes\n"
      << "  make report\n"
      << "      every figure of the paper beside your runs\n";
}

/// Trains one after the other and measures each. Returns the first exit code that is not 0.
int train_parts(const DemoFlags& flags, std::vector<Demonstrated>& all) {
  const CatchInterrupts catching;
  for (const Part& part : parts()) {
    if (interrupted()) {  // in the last evaluation of the part before
      std::cout << "interrupted; to begin the demo again, remove " << flags.out << '\n';
      return interrupted_exit_code;
    }
    const std::string folder = flags.out + '/' + part.name;
    std::cout << bold(part.shown.claim) << '\n';
    if (const int code = train_part(part, flags, folder); code != 0) return code;
    all.push_back(measured(part, folder));
    std::cout << '\n';
  }
  return 0;
}

int run(const DemoFlags& flags) {
  if (exists(flags.out))
    fail<UsageError>("--out ", flags.out, ": is there already; remove it, or name another folder");
  std::vector<Demonstrated> all;
  if (const int code = train_parts(flags, all); code != 0) return code;
  conclude(all, flags);
  return 0;
}

}  // namespace

void add_demo_command(Command& program) {
  Command& command = program.add_command("demo", "two claims of the paper on data that come with the program",
                                         "Example: lamina demo --seed 2 --out runs/demo-2");
  const auto flags = std::make_shared<DemoFlags>();
  command.add("--seed", flags->seed, "of all random numbers").non_negative().show_default();
  add_threads_flag(command, flags->threads);
  command.add("--out", flags->out, "folder of the runs").show_default();
  command.action([flags] { return run(*flags); });
}

}  // namespace lamina
