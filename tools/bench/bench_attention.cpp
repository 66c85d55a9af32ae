// How attention's time and memory grow with the number of positions, in blocks and as its twin of whole matrices, as a
// markdown table. Times are of forward and backward together; memory is all that the allocator took for it beyond the
// input. The share of the peak counts the products of visible pairs alone.
//
//   build/bench_attention                            # causal, 8 heads of width 32
//   build/bench_attention --width 64 --threads 1

#include <cstdio>

#include "core/gemm/gemm.h"
#include "core/math/random.h"
#include "core/ops.h"
#include "core/tape.h"
#include "tools/bench/bench.h"

namespace {

using namespace lamina;

struct Sizes {
  size_t heads = 8, width = 32;
};

struct Cost {
  double ms, mb;
};

/// Of a step, on queries, keys and values of one case.
Cost cost_of(Tensor (*attention)(const Tensor&, size_t, const AttentionOptions&), size_t positions,
             const Sizes& sizes, double seconds) {
  Tensor qkv({1, positions, 3 * sizes.heads * sizes.width}),
      derivative({1, positions, sizes.heads * sizes.width});
  Random(1).fill_normal(qkv.data(), qkv.size(), 0, 1);
  Random(2).fill_normal(derivative.data(), derivative.size(), 0, 1);
  qkv.require_gradient();
  const auto step = [&] {
    qkv.clear_gradient();
    Tape tape;
    tape.backward(attention(qkv, sizes.heads, {.causal = true}), derivative);
  };
  const double mb = bench::memory_mb(step);
  return {bench::median(bench::times_of(seconds, 3, step)), mb};
}

void print_table(const Sizes& sizes, double seconds) {
  constexpr size_t longest_of_twin = 2048;  // beyond it, its matrices of all heads take gigabytes
  const double peak = measure_peak_gflops(threads());
  std::printf("%d threads, peak %.0f GFLOP/s, %s; causal, %zu heads of width %zu\n\n", threads(), peak,
              gemm_backend(), sizes.heads, sizes.width);
  std::printf("| positions | ms | of peak | MB | KB a position | twin ms | twin MB | twin ms / ms |\n");
  std::printf("|---|---|---|---|---|---|---|---|\n");
  for (size_t positions = 128; positions <= 8192; positions *= 2) {
    const Cost fused = cost_of(self_attention, positions, sizes, seconds);
    const auto n = static_cast<double>(positions), units = static_cast<double>(sizes.heads * sizes.width);
    const double gflop = 1e-9 * 14 * units * n * (n + 1) / 2;
    std::printf("| %zu | %.2f | %.0f%% | %.1f | %.1f |", positions, fused.ms,
                100 * 1e3 * gflop / fused.ms / peak, fused.mb, 1024 * fused.mb / n);
    if (positions <= longest_of_twin) {
      const Cost twin = cost_of(composed::self_attention, positions, sizes, seconds);
      std::printf(" %.2f | %.1f | %.1f |\n", twin.ms, twin.mb, twin.ms / fused.ms);
    } else {
      std::printf(" | | |\n");
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Sizes sizes;
  Command program("bench_attention",
                  "Time and memory of attention by number of positions; a markdown table.");
  program.add("--heads", sizes.heads, "how many").range(1, 256).show_default();
  program.add("--width", sizes.width, "of a head").range(1, 1024).show_default();
  program.footer("Example: build/bench_attention --seconds 1 --threads 1");
  return bench::run(program, {.seconds = 0.3}, "measured per line", argc, argv,
                    [&](double seconds) { print_table(sizes, seconds); });
}
