// What an image costs: the convolutional network of models/convnet, training and in use, from batch size 1 to
// 512. Prints a markdown table. Random data; the median of the steps.

#include <cstdio>

#include "core/ops.h"
#include "core/tape.h"
#include "models/convnet/model.h"
#include "optim/adam.h"
#include "tools/bench/bench.h"

namespace {

using namespace lamina;

/// Median time of `step` in microseconds, over at least five calls.
template <class Step>
double median_us(double seconds, const Step& step) {
  for (int warm = 0; warm < 3; ++warm) step();
  return 1e3 * bench::median(bench::times_of(seconds, 5, step));
}

struct Cost {
  double train, use;  ///< microseconds per step
};

Cost cost_of(Norm norm, size_t batch, double seconds) {
  Parameters parameters(1);
  convnet::Model model(parameters, {.norm = norm});
  Adam adam(parameters, {.learning_rate = real(1e-5)});
  Tensor images({batch, 784});
  Random(2).fill_uniform(images.data(), images.size(), 0, 1);
  std::vector<int> labels(batch);
  for (size_t i = 0; i < batch; ++i) labels[i] = static_cast<int>(i % 10);
  const double train = median_us(seconds, [&] {
    Tape tape;
    tape.backward(cross_entropy(model(images, Mode::train), labels));
    adam.step();
  });
  return {train, median_us(seconds, [&] { (void)model(images, Mode::evaluate); })};
}

void print_table(double seconds) {
  std::printf("Microseconds an image: training step, and forward only.\n\n");
  std::printf(
      "| batch | none: training | evaluation | layer: training | evaluation | batch: training | evaluation "
      "|\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (size_t batch = 1; batch <= 512; batch *= 2) {
    std::printf("| %zu |", batch);
    for (const Norm norm : {Norm::none, Norm::layer, Norm::batch}) {
      const auto [train, use] = cost_of(norm, batch, seconds);
      std::printf(" %.1f | %.1f |", train / static_cast<double>(batch), use / static_cast<double>(batch));
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Command program("bench_convnet", "What an image costs in the ConvNet, by batch size.");
  return bench::run(program, {.seconds = 1}, "measured per cell", argc, argv, print_table);
}
