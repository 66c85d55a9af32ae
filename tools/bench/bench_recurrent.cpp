// How the cost of recurrent layers grows with steps, batch and hidden units, plain and with layer norm, as a
// markdown table. Times are of forward and backward together; memory is all that the allocator took for it.
//
//   build/bench_recurrent                 # under a minute
//   build/bench_recurrent --seconds 2     # per line, for steadier numbers

#include <cstdio>
#include <memory>
#include <vector>

#include "core/gemm/gemm.h"
#include "core/ops.h"
#include "core/tape.h"
#include "core/threads/parallel.h"
#include "layers/recurrent/recurrent.h"
#include "tools/bench/bench.h"

namespace {

using namespace lamina;

struct Line {
  bool lstm;
  size_t steps, batch, input, hidden;
  bool checkpoint = false;

  /// Of the products forward and backward; not those that checkpointing computes again.
  double gflop() const { return bench::recurrent_gflop(lstm ? 4 : 3, input, hidden, false, steps, batch); }
};

/// A layer with its input; calling it is a step.
class Model {
 public:
  Model(const Line& line, Norm norm) : parameters_(1), x_({line.steps, line.batch, line.input}) {
    const RecurrentOptions options{
        .input = line.input, .hidden = line.hidden, .norm = norm, .checkpoint = line.checkpoint};
    layer_ = std::make_unique<Recurrent>(parameters_, "layer", line.lstm ? lstm_cell() : gru_cell(), options);
    Random(2).fill_normal(x_.data(), x_.size(), 0, 1);
    parameters_.gradients();  // moves the parameters to where they stay, before memory is counted
  }

  /// Milliseconds.
  double operator()() const {
    const double begin = bench::now();
    Tape tape;
    tape.backward(mean_square((*layer_)(x_).hidden));
    return 1e3 * (bench::now() - begin);
  }

 private:
  Parameters parameters_;
  Tensor x_;
  std::unique_ptr<Recurrent> layer_;
};

/// Plain and layer norm take turns, so that both meet the same weather.
void print_line(const Line& line, double seconds, double peak) {
  const Model plain(line, Norm::none), normalized(line, Norm::layer);
  const double plain_mb = bench::memory_mb(plain), normalized_mb = bench::memory_mb(normalized);
  std::vector<double> plain_ms, normalized_ms;
  const double start = bench::now();
  while (plain_ms.size() < 2 || bench::now() - start < seconds) {
    plain_ms.push_back(plain());
    normalized_ms.push_back(normalized());
  }
  const double first = bench::median(plain_ms), second = bench::median(normalized_ms);
  const auto percent = [&](double ms) { return 100 * 1e3 * line.gflop() / ms / peak; };
  std::printf("| %s | %zu%s | %zu | %zu | %.2f | %.2f | %.2f | %.0f%% | %.0f%% | %.1f | %.1f |\n",
              line.lstm ? "LSTM" : "GRU", line.steps, line.checkpoint ? ", checkpoints" : "", line.batch,
              line.hidden, first, second, second / first, percent(first), percent(second), plain_mb,
              normalized_mb);
  std::fflush(stdout);
}

/// Over steps and batch with 64 units, then over the units.
std::vector<Line> lines_of(bool lstm) {
  std::vector<Line> lines;
  for (const size_t batch : {1U, 8U, 32U})
    for (const size_t steps : {10U, 100U, 1000U, 5000U})
      lines.push_back({.lstm = lstm, .steps = steps, .batch = batch, .input = 64, .hidden = 64});
  for (const size_t steps : {1000U, 5000U})
    lines.push_back(
        {.lstm = lstm, .steps = steps, .batch = 32, .input = 64, .hidden = 64, .checkpoint = true});
  lines.push_back({.lstm = lstm, .steps = 100, .batch = 32, .input = 128, .hidden = 256});
  lines.push_back({.lstm = lstm, .steps = 50, .batch = 32, .input = 512, .hidden = 1024});
  lines.push_back({.lstm = lstm, .steps = 10, .batch = 64, .input = 620, .hidden = 2400});
  return lines;
}

void print_table(double seconds) {
  const double peak = measure_peak_gflops(threads());
  std::printf("%d threads, peak %.0f GFLOP/s, %s\n\n", threads(), peak, gemm_backend());
  std::printf(
      "| cell | steps | batch | hidden | plain ms | LN ms | LN/plain | plain of peak | LN of peak | plain MB "
      "| LN MB |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const bool lstm : {true, false})
    for (const Line& line : lines_of(lstm)) print_line(line, seconds, peak);
}

}  // namespace

int main(int argc, char** argv) {
  Command program("bench_recurrent", "Cost of recurrent layers; a markdown table.");
  program.footer("Example: build/bench_recurrent --seconds 1 --threads 1");
  return bench::run(program, {.seconds = 0.3}, "measured per line", argc, argv, print_table);
}
