// Times training steps (forward, loss, backward, Adam) and prints one JSON line a case, with the case names
// and the fields of the PyTorch script that tools/bench.py runs beside it. Data are random.
//
//   build/bench_steps --case lstm --variant ln
//
// With --bursts it stays and times a burst of steps for every line on standard input, so that programs can take turns
// (tools/bench.py, tools/compare-builds).
//
// Each case runs in a process of its own (--case all starts them), so that peak_rss_mb is its own.

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/error.h"
#include "core/gemm/gemm.h"
#include "core/ops.h"
#include "core/threads/parallel.h"
#include "layers/recurrent/recurrent.h"
#include "models/attentive_reader/model.h"
#include "models/convnet/model.h"
#include "models/draw/model.h"
#include "models/mnist/model.h"
#include "models/order_embedding/model.h"
#include "models/skip_thoughts/model.h"
#include "tools/bench/bench.h"
#include "tools/bench/timed_steps.h"
#include "tools/commands/training_steps.h"
#include "tools/flags/flag_value.h"

namespace {

using namespace lamina;

struct Case {
  TrainingStep step;
  double gflop;                        ///< of the products in one step, forward and backward
  std::function<double()> write = {};  ///< a step that trains nothing, in place of the one that does
};

using Maker = std::function<Case(Norm)>;

using bench::gflop_of, bench::recurrent_gflop;

/// Rows of taps that meet only padding are left out (core/ops/images/conv2d.cpp), 6 of 5 x 28 and of 5 x 14, but for the
/// weights' gradient of the first layer, whose rows are too short for that.
Case convnet(Norm norm, size_t batch) {
  const double first = 784 * 25 * 32, second = 196 * 800 * 64, hidden = 3136 * 512 + 5120;
  return {classifier_step<convnet::Model, convnet::ModelOptions>({norm, batch}),
          gflop_of(first + second * 64 / 70 + hidden, first + first * 6 / 140, batch)};
}

Case mnist_mlp(Norm norm, size_t batch) {
  const double weights = 784e3 + 1e6 + 1e4;
  return {classifier_step<mnist::Model, mnist::ModelOptions>({norm, batch}), gflop_of(weights, 784e3, batch)};
}

/// How many numbers the matrices of a model have whose names end so.
double weights_of(const TrainingStep& step, std::string_view ending = "") {
  size_t weights = 0;
  for (const auto& [name, value] : step.parameters->learned())
    if (value.shape().rank() == 2 && name.ends_with(ending)) weights += value.size();
  return static_cast<double>(weights);
}

/// Each weight serves every glimpse.
double draw_gflop(const TrainingStep& step, size_t batch) {
  return gflop_of(weights_of(step), 0, batch * draw::GlimpseSizes().glimpses);
}

/// Each weight serves every point; the points themselves get no gradient.
double handwriting_gflop(const TrainingStep& step, size_t batch) {
  return gflop_of(weights_of(step), 0, batch * 500);
}

double order_gflop(const TrainingStep&, size_t batch) {
  constexpr size_t steps = 15;
  const order_embedding::ModelOptions sizes;
  const auto image = static_cast<double>(sizes.features * sizes.hidden);
  return recurrent_gflop(3, sizes.embedding, sizes.hidden, true, steps, batch) +
         gflop_of(image, image, batch);
}

double reader_gflop(const TrainingStep&, size_t batch) {
  constexpr size_t passage = 200, question = 30;
  const attentive_reader::ModelOptions sizes;
  const auto hidden = static_cast<double>(sizes.hidden), square = hidden * hidden;
  const auto lstm = [&](size_t steps) {
    return recurrent_gflop(4, sizes.embedding, sizes.hidden, true, steps, batch);
  };
  return lstm(passage) + lstm(question) + gflop_of(square, 0, passage * batch) +
         gflop_of(3 * square + 500 * hidden, 0, batch);
}

double skip_gflop(const TrainingStep&, size_t batch) {
  constexpr size_t words = 20;
  const skip_thoughts::EncoderSizes sizes;
  const auto hidden = static_cast<double>(sizes.hidden);
  const double conditions = 2 * 3 * hidden * hidden,
               output = 2 * hidden * static_cast<double>(sizes.vocabulary);
  return 3 * recurrent_gflop(3, sizes.embedding, sizes.hidden, true, words, batch) +
         gflop_of(output, 0, words * batch) + gflop_of(conditions, 0, batch);
}

/// The training step of this name (training_steps.h) at its usual batch size.
Maker step_of(const char* name, double (*gflop)(const TrainingStep& step, size_t batch)) {
  return [=](Norm norm) {
    const NamedTrainingStep& named = *find_training_step(name);
    const TrainingStep step = named.make({.norm = norm, .batch = named.batch});
    return Case{step, gflop(step, named.batch)};
  };
}

template <class Layer>
Maker sequence_of(size_t gates, SequenceSizes s) {
  return [=](Norm norm) mutable {
    s.norm = norm;
    return Case{recurrent_step<Layer>(s), recurrent_gflop(gates, s.input, s.hidden, false, s.steps, s.batch)};
  };
}

constexpr LanguageModelSizes small_language_model{
    .layers = 2, .width = 64, .heads = 4, .length = 64, .batch = 4};

/// Each matrix but the tables of vectors serves every token. Attention has six products of rows of a head with those
/// that they see, half of all on average: two forward, four backward.
Maker language_model(LanguageModelSizes sizes) {
  return [=](Norm norm) mutable {
    sizes.norm = norm;
    const TrainingStep step = language_model_step(sizes);
    const auto pairs = static_cast<double>(sizes.batch * sizes.layers * sizes.length) *
                       static_cast<double>(sizes.length + 1) / 2;
    return Case{step, gflop_of(weights_of(step, ".weight"), 0, sizes.batch * sizes.length) +
                          6 * 2e-9 * pairs * static_cast<double>(sizes.width)};
  };
}

/// One character of a text that a language model writes, on one thread, drawn from what the model says of the one before;
/// the positions before it are in the cache. The text begins anew when the model sees no more.
Maker writing(LanguageModelSizes sizes) {
  return [=](Norm norm) mutable {
    sizes.norm = norm;
    set_threads(1);
    const WritingStep step = writing_step(sizes);
    return Case{.step = {.parameters = step.parameters, .loss = {}}, .gflop = 0, .write = step.next};
  };
}

struct NamedCase {
  std::string name;
  std::vector<std::string> beside_pytorch;  ///< the variants that its script has, too
  std::vector<std::string> alone;           ///< those that it lacks
  Maker make;
};

/// The one list of the cases; scripts ask for it with --list.
const std::vector<NamedCase> cases{
    {"mnist_mlp_b128", {"none", "ln", "bn", "wn"}, {}, [](Norm norm) { return mnist_mlp(norm, 128); }},
    {"mnist_mlp_b4", {"none", "ln", "bn", "wn"}, {}, [](Norm norm) { return mnist_mlp(norm, 4); }},
    {"lstm", {"none", "ln"}, {}, sequence_of<Lstm>(4, {})},
    {"gru", {"none", "ln"}, {}, sequence_of<Gru>(3, {})},
    {"convnet", {"none", "ln", "bn"}, {}, [](Norm norm) { return convnet(norm, 128); }},
    {"draw", {"none", "ln"}, {"wn"}, step_of("draw", draw_gflop)},
    {"handwriting", {"none", "ln"}, {}, step_of("handwriting", handwriting_gflop)},
    {"order_embedding", {"none", "ln"}, {}, step_of("order-embedding", order_gflop)},
    {"attentive_reader", {"none", "ln"}, {"bn"}, step_of("attentive-reader", reader_gflop)},
    {"skip_thoughts", {"none", "ln"}, {}, step_of("skip-thoughts", skip_gflop)},
    {"transformer", {"none", "ln", "rms"}, {}, language_model({})},
    {"transformer_small", {"none", "ln", "rms"}, {}, language_model(small_language_model)},
    {"transformer_write", {"ln"}, {}, writing({})},
    {"transformer_small_write", {"ln"}, {}, writing(small_language_model)},
    {"lstm_h64", {}, {"none", "ln"}, sequence_of<Lstm>(4, {.input = 64, .hidden = 64})},
    {"lstm_h1024", {}, {"none", "ln"}, sequence_of<Lstm>(4, {.steps = 50, .input = 512, .hidden = 1024})},
    {"lstm_h2400",
     {},
     {"none", "ln"},
     sequence_of<Lstm>(4, {.steps = 20, .batch = 64, .input = 620, .hidden = 2400})},
};

std::vector<std::string> variants_of(const NamedCase& each) {
  std::vector<std::string> all = each.beside_pytorch;
  all.insert(all.end(), each.alone.begin(), each.alone.end());
  return all;
}

const NamedCase& case_of(const std::string& name, const std::string& variant) {
  const auto found = std::ranges::find(cases, name, &NamedCase::name);
  if (found == cases.end()) fail<UsageError>("no case '", name, "'; --list shows them");
  if (std::ranges::count(variants_of(*found), variant) == 0)
    fail<UsageError>("case '", name, "' has no variant '", variant, "'; --list shows them");
  return *found;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double rounded(double value) { return std::round(value * 1000) / 1000; }

/// A case with its optimizer, after its first step.
struct Trainer {
  Trainer(const std::string& name, const std::string& variant)
      : timed(case_of(name, variant).make(*norm_named(variant))),
        step(timed.write ? timed.write : with_update(timed.step)),
        first_loss(step()) {}

  Case timed;
  std::function<double()> step;
  double first_loss;
};

/// What is known of a case after its steps, as JSON.
nlohmann::ordered_json facts_of(const std::string& name, const std::string& variant, const Trainer& trainer) {
  return {{"case", name},
          {"variant", variant},
          {"mode", "lamina"},
          {"params", trainer.timed.step.parameters->count()},
          {"peak_rss_mb", rounded(bench::peak_rss_mb())},
          {"threads", threads()},
          {"gflop", rounded(trainer.timed.gflop)},
          {"first_loss", rounded(trainer.first_loss)},
          {"backend", gemm_backend()}};
}

/// Answers "peak" with the GFLOP/s of the multiply-add units, "facts" with the JSON above, and seconds as bursts.h says.
void take_turns(const std::string& name, const std::string& variant) {
  const Trainer trainer(name, variant);
  bench::answer_bursts(trainer.step, [&](const std::string& word) {
    if (word == "peak")
      std::cout << measure_peak_gflops(threads());
    else if (word == "facts")
      std::cout << facts_of(name, variant, trainer).dump();
    else
      fail<UsageError>("--bursts: '", word,
                       "' on standard input is neither a number of seconds nor peak nor facts");
  });
}

void measure(const std::string& name, const std::string& variant, double seconds) {
  const Trainer trainer(name, variant);
  const double warm = bench::now();
  while (bench::now() - warm < std::min(1.0, seconds)) trainer.step();
  const double cpu = cpu_seconds(), start = bench::now();
  const std::vector<double> times = bench::times_of(seconds, 3, trainer.step);
  const double cpus = (cpu_seconds() - cpu) / (bench::now() - start);
  const double median = bench::median(times), peak = measure_peak_gflops(threads());
  nlohmann::ordered_json line = facts_of(name, variant, trainer);
  line.update({{"ms_per_step", rounded(median)},
               {"min", rounded(std::ranges::min(times))},
               {"max", rounded(std::ranges::max(times))},
               {"steps", times.size()},
               {"peak_gflops", rounded(peak)},
               {"fraction_of_peak", rounded(1e3 * trainer.timed.gflop / median / peak)},
               {"cpus_used", rounded(cpus)}});
  std::cout << line.dump() << std::endl;
}

int list_cases() {
  for (const NamedCase& each : cases)
    std::cout << nlohmann::ordered_json{{"case", each.name},
                                        {"beside_pytorch", each.beside_pytorch},
                                        {"alone", each.alone}}
                     .dump()
              << "\n";
  return 0;
}

/// Runs every case in a process of its own.
int measure_all(const std::string& program, const bench::Flags& flags) {
  for (const NamedCase& each : cases)
    for (const std::string& variant : variants_of(each)) {
      const std::string command = text("'", program, "' --case ", each.name, " --variant ", variant,
                                       " --seconds ", flags.seconds, " --threads ", flags.threads);
      if (std::system(command.c_str()) != 0) return 1;  // NOLINT(cert-env33-c): our own program
    }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Command program("bench_steps", "Times training steps; JSON lines.");
  std::string name = "all", variant = "none";
  bench::Flags flags{.seconds = 4};
  bool bursts = false, list = false;
  program.add("--case", name, "one case, or all").show_default();
  program.add("--variant", variant, "none, ln, bn, wn or rms").show_default();
  flags.add_to(program, "measured per case");
  program.add(
      "--bursts", bursts,
      "time a burst of steps for every number of seconds on standard input; answer also peak and facts");
  program.add("--list", list, "print the cases and their variants, a JSON line each");
  program.footer("Example: build/bench_steps --case lstm --variant ln");
  program.action([&] {
    if (list) return list_cases();
    set_threads(flags.threads);
    if (name == "all") return measure_all(argv[0], flags);
    if (bursts)
      take_turns(name, variant);
    else
      measure(name, variant, flags.seconds);
    return 0;
  });
  return program.run(argc, argv);
}
