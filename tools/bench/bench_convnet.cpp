// What an image costs: the convolutional network of models/convnet, training and in use, from batch size 1 to
// 512. Prints a markdown table. Random data; the median of the steps.

#include <cstdio>

#include "models/convnet/model.h"
#include "tools/bench/bench.h"
#include "tools/bench/timed_steps.h"

namespace {

using namespace lamina;

/// Median time of `step` in microseconds, over at least five calls.
template <class Step>
double median_us(double seconds, const Step& step) {
  for (int warm = 0; warm < 3; ++warm) step();
  return 1e3 * bench::median(bench::times_of(seconds, 5, step));
}

/// Two cells of a row: microseconds an image of a training step and of a forward pass. Batch norm does not train on a
/// single case, which has no variance.
void print_cost(Norm norm, size_t batch, double seconds) {
  const TrainingStep step = classifier_step<convnet::Model, convnet::ModelOptions>({norm, batch});
  const auto images = static_cast<double>(batch);
  if (norm == Norm::batch && batch == 1)
    std::printf(" - |");
  else
    std::printf(" %.1f |", median_us(seconds, with_update(step)) / images);
  std::printf(" %.1f |", median_us(seconds, step.use) / images);
}

void print_table(double seconds) {
  std::printf("Microseconds an image: training step, and forward only.\n\n");
  std::printf(
      "| batch | none: training | evaluation | layer: training | evaluation | batch: training | evaluation "
      "|\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (size_t batch = 1; batch <= 512; batch *= 2) {
    std::printf("| %zu |", batch);
    for (const Norm norm : {Norm::none, Norm::layer, Norm::batch}) print_cost(norm, batch, seconds);
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Command program("bench_convnet", "What an image costs in the ConvNet, by batch size.");
  return bench::run(program, {.seconds = 1}, "measured per cell", argc, argv, print_table);
}
