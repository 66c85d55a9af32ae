// Times an experiment's training step as one of several ranks, for tools/scaling: gradients, their sums over the ranks,
// Adam. Data are random. Prints JSON lines.
//
//   build/bench_ranks --case mnist --batch 64 --timeline    alone: how long a step takes, and when each sum could start
//   mpirun -n 2 build/bench_ranks --case mnist --batch 128  a burst of steps for every line on standard input
//   mpirun -n 2 build/bench_ranks --sums                    what sums of several sizes take

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "core/distributed/gradient_sum.h"
#include "core/distributed/group.h"
#include "core/distributed/machine/shared_model.h"
#include "core/error.h"
#include "core/tape.h"
#include "core/threads/parallel.h"
#include "optim/adam.h"
#include "tools/bench/bench.h"
#include "tools/bench/pretended_ranks.h"
#include "tools/commands/training_steps.h"

namespace {

using namespace lamina;
using nlohmann::ordered_json;

struct Flags {
  std::string name = "mnist";
  size_t batch = 0;  ///< of all ranks; 0: the experiment's
  double seconds = 1;
  int threads = 1;
  bool timeline = false, sums = false, list = false;
  double sum_ms = 0, megabyte_ms = 0;  ///< added to each sum
};

const NamedTrainingStep& experiment_of(const Flags& flags) {
  const NamedTrainingStep* const found = find_training_step(flags.name);
  if (found == nullptr) fail<UsageError>("no case '", flags.name, "'; --list shows them");
  return *found;
}

size_t batch_of(const Flags& flags) { return flags.batch > 0 ? flags.batch : experiment_of(flags).batch; }

/// An experiment with its default norm and its optimizer, as one of the ranks.
class Trainer {
 public:
  Trainer(const NamedTrainingStep& experiment, size_t own_cases)
      : step_(experiment.make({.norm = experiment.norms.front(), .batch = own_cases})),
        sums_(experiment.clips ? distributed::SumsAre::complete : distributed::SumsAre::left_to_the_update),
        adam_(*step_.parameters, {.learning_rate = real(1e-5)}),
        model_(*step_.parameters, adam_.state()),
        gradients_(*step_.parameters, distributed::smallest_bucket, model_.sum()) {
    if (model_.sum() != nullptr)
      adam_.update_part(model_.own_part(), [this](Range range) { gradients_.sum_here(range); });
  }

  /// As in training (RankSteps), but that the step's cases are this rank's already.
  void step() {
    gradients_.begin(sums_);
    {
      Tape tape;
      const Tensor loss = step_.loss();
      exchanged_[0] = static_cast<double>(loss.item());
      distributed::group().start_sum(std::span(exchanged_));
      tape.backward(loss);
    }
    gradients_.finish();
    adam_.step();
    model_.updated();
  }
  size_t parameters() const { return step_.parameters->count(); }

 private:
  TrainingStep step_;
  distributed::SumsAre sums_;
  Adam adam_;
  distributed::SharedModel model_;
  distributed::GradientSum gradients_;
  std::vector<double> exchanged_{0, 0};
};

/// The median step, when it waits for its sums, and when each could start: milliseconds after the step began.
int print_timeline(const Flags& flags) {
  auto joined = std::make_unique<bench::Timeline>();
  bench::Timeline& timeline = *joined;
  distributed::join(std::move(joined));
  Trainer trainer(experiment_of(flags), batch_of(flags));
  std::vector<double> whole, waits;
  std::vector<std::vector<double>> starts;
  trainer.step();
  const double begin = bench::now();
  while (whole.size() < 3 || bench::now() - begin < flags.seconds) {
    timeline.begin();
    const double from = bench::now();
    trainer.step();
    whole.push_back(1e3 * (bench::now() - from));
    waits.push_back(1e3 * timeline.finished());
    starts.resize(timeline.sums().size());
    for (size_t i = 0; i < starts.size(); ++i) starts[i].push_back(1e3 * timeline.sums()[i].at);
  }
  ordered_json sums = ordered_json::array();
  for (size_t i = 0; i < starts.size(); ++i)
    sums.push_back({timeline.sums()[i].bytes, bench::median(starts[i])});
  std::cout << ordered_json{{"case", flags.name},
                            {"batch", batch_of(flags)},
                            {"threads", threads()},
                            {"parameters", trainer.parameters()},
                            {"step_ms", bench::median(whole)},
                            {"wait_ms", bench::median(waits)},
                            {"sums", sums}}
                   .dump()
            << std::endl;
  distributed::join(nullptr);
  return 0;
}

/// Steps for some seconds; all ranks make as many. Returns the mean milliseconds of one.
double burst(Trainer& trainer, double seconds, double expected_ms) {
  double count = std::max(1.0, 1e3 * seconds / expected_ms);
  distributed::group().broadcast(std::as_writable_bytes(std::span(&count, 1)));
  trainer.step();  // caches hold what another program left
  const auto steps = static_cast<size_t>(count);
  const double begin = bench::now();
  for (size_t i = 0; i < steps; ++i) trainer.step();
  return 1e3 * (bench::now() - begin) / static_cast<double>(steps);
}

/// For every line that rank 0 reads, a number of seconds: a line with the mean milliseconds of a step.
int serve_bursts(const Flags& flags) {
  const size_t whole = batch_of(flags), rank = distributed::group().rank(),
               ranks = distributed::group().size();
  if (whole < ranks) fail<UsageError>("--batch ", whole, ": fewer cases than the ", ranks, " ranks");
  Trainer trainer(experiment_of(flags), whole * (rank + 1) / ranks - whole * rank / ranks);
  trainer.step();
  double ms = burst(trainer, 0, 1);
  for (double seconds = 0;;) {
    if (distributed::is_first() && !(std::cin >> seconds)) seconds = -1;
    distributed::group().broadcast(std::as_writable_bytes(std::span(&seconds, 1)));
    if (seconds < 0) return 0;
    ms = burst(trainer, seconds, ms);
    std::cout << ms << std::endl;
  }
}

/// A line for each number of bytes: the median milliseconds of a sum over all ranks.
int print_sums(const Flags& flags) {
  constexpr size_t least = size_t{1} << 8, most = size_t{1} << 20;
  std::vector<float> numbers(most);
  for (size_t count = least; count <= most; count *= 4) {
    std::vector<double> times;
    double go_on = 1;
    for (const double begin = bench::now(); go_on > 0;) {
      distributed::group().barrier();
      const double from = bench::now();
      distributed::group().start_sum(std::span(numbers).first(count));
      distributed::group().finish();
      times.push_back(1e3 * (bench::now() - from));
      go_on = times.size() < 3 || bench::now() - begin < flags.seconds ? 1 : 0;
      distributed::group().broadcast(std::as_writable_bytes(std::span(&go_on, 1)));
    }
    std::cout << ordered_json{{"bytes", count * sizeof(float)}, {"ms", bench::median(times)}}.dump()
              << std::endl;
  }
  return 0;
}

int list_cases() {
  for (const NamedTrainingStep& each : training_steps())
    std::cout << ordered_json{{"case", each.name}, {"batch", each.batch}}.dump() << '\n';
  return 0;
}

int run(const Flags& flags) {
  if (flags.list) return list_cases();
  set_threads(flags.threads);
  if (flags.timeline) return print_timeline(flags);
  if (distributed::is_shared() && (flags.sum_ms > 0 || flags.megabyte_ms > 0))
    distributed::join(std::make_unique<bench::DelayedGroup>(
        distributed::join(nullptr),
        bench::DelayedGroup::Cost{1e-3 * flags.sum_ms, 1e-9 * flags.megabyte_ms}));
  return flags.sums ? print_sums(flags) : serve_bursts(flags);
}

}  // namespace

int main(int argc, char** argv) {
  Command program("bench_ranks", "Times a training step as one of several ranks; JSON lines.");
  Flags flags;
  program.for_ranks();
  program.add("--case", flags.name, "an experiment of --list").show_default();
  program.add("--batch", flags.batch, "cases of all ranks; 0: the experiment's").non_negative();
  program.add("--seconds", flags.seconds, "measured, of a timeline or of each size of sums").positive();
  program.add("--threads", flags.threads, "of each rank; 0: as LAMINA_THREADS says, or one per core")
      .range(0, 1024)
      .show_default();
  program.add("--timeline", flags.timeline, "alone: when each sum over ranks could start");
  program.add("--sums", flags.sums, "sums over ranks alone, of several sizes");
  program.add("--sum-ms", flags.sum_ms, "as if each sum took so much longer").non_negative();
  program.add("--megabyte-ms", flags.megabyte_ms, "and so much for each megabyte").non_negative();
  program.add("--list", flags.list, "print the cases and their batches");
  program.footer("Example: build/bench_ranks --case mnist --batch 64 --timeline");
  program.action([&] { return run(flags); });
  return program.run(argc, argv);
}
