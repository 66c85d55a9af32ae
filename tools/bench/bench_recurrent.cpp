// How the cost of recurrent layers grows with steps, batch and hidden units, plain and with layer norm, as a
// markdown table. Times are of forward and backward together; memory is all that the allocator took for it.
//
//   build/bench_recurrent                 # under a minute
//   build/bench_recurrent --seconds 2     # per line, for steadier numbers

#include <cstdio>
#include <functional>
#include <vector>

#include "core/gemm/gemm.h"
#include "core/tape.h"
#include "core/threads/parallel.h"
#include "layers/recurrent/recurrent.h"
#include "tools/bench/bench.h"
#include "tools/bench/timed_steps.h"

namespace {

using namespace lamina;

/// A step of a layer, which gives its milliseconds.
template <class Layer>
std::function<double()> timed_step(SequenceSizes sizes, Norm norm) {
  sizes.norm = norm;
  const TrainingStep step = recurrent_step<Layer>(sizes);
  step.parameters->gradients();  // moves the parameters to where they stay, before memory is counted
  return [=] {
    const double begin = bench::now();
    Tape tape;
    tape.backward(step.loss());
    return 1e3 * (bench::now() - begin);
  };
}

/// Plain and layer norm take turns, so that both meet the same weather. Of the peak are the products forward and backward;
/// not those that checkpointing computes again.
template <class Layer>
void print_line(const char* name, size_t gates, const SequenceSizes& sizes, double seconds, double peak) {
  const auto plain = timed_step<Layer>(sizes, Norm::none), normalized = timed_step<Layer>(sizes, Norm::layer);
  const double plain_mb = bench::memory_mb(plain), normalized_mb = bench::memory_mb(normalized);
  std::vector<double> plain_ms, normalized_ms;
  const double start = bench::now();
  while (plain_ms.size() < 2 || bench::now() - start < seconds) {
    plain_ms.push_back(plain());
    normalized_ms.push_back(normalized());
  }
  const double first = bench::median(plain_ms), second = bench::median(normalized_ms);
  const double gflop =
      bench::recurrent_gflop(gates, sizes.input, sizes.hidden, false, sizes.steps, sizes.batch);
  const auto percent = [&](double ms) { return 100 * 1e3 * gflop / ms / peak; };
  std::printf("| %s | %zu%s | %zu | %zu | %.2f | %.2f | %.2f | %.0f%% | %.0f%% | %.1f | %.1f |\n", name,
              sizes.steps, sizes.checkpoint ? ", checkpoints" : "", sizes.batch, sizes.hidden, first, second,
              second / first, percent(first), percent(second), plain_mb, normalized_mb);
  std::fflush(stdout);
}

/// Over steps and batch with 64 units, then over the units.
std::vector<SequenceSizes> all_sizes() {
  std::vector<SequenceSizes> all;
  for (const size_t batch : {1U, 8U, 32U})
    for (const size_t steps : {10U, 100U, 1000U, 5000U})
      all.push_back({.steps = steps, .batch = batch, .input = 64, .hidden = 64});
  for (const size_t steps : {1000U, 5000U})
    all.push_back({.steps = steps, .batch = 32, .input = 64, .hidden = 64, .checkpoint = true});
  all.push_back({.steps = 100, .batch = 32, .input = 128, .hidden = 256});
  all.push_back({.steps = 50, .batch = 32, .input = 512, .hidden = 1024});
  all.push_back({.steps = 10, .batch = 64, .input = 620, .hidden = 2400});
  return all;
}

void print_table(double seconds) {
  const double peak = measure_peak_gflops(threads());
  std::printf("%d threads, peak %.0f GFLOP/s, %s\n\n", threads(), peak, gemm_backend());
  std::printf(
      "| cell | steps | batch | hidden | plain ms | LN ms | LN/plain | plain of peak | LN of peak | plain MB "
      "| LN MB |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const SequenceSizes& sizes : all_sizes()) print_line<Lstm>("LSTM", 4, sizes, seconds, peak);
  for (const SequenceSizes& sizes : all_sizes()) print_line<Gru>("GRU", 3, sizes, seconds, peak);
}

}  // namespace

int main(int argc, char** argv) {
  Command program("bench_recurrent", "Cost of recurrent layers; a markdown table.");
  program.footer("Example: build/bench_recurrent --seconds 1 --threads 1");
  return bench::run(program, {.seconds = 0.3}, "measured per line", argc, argv, print_table);
}
