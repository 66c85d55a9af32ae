// What a matrix product keeps of the machine's peak at each step from the registers to the whole product; a markdown
// table, which core/gemm/README.md explains. Best of many, the steps of a product taking turns with the peak itself.
//
//   build/bench_product
//
// Run it by tools/bench_turns.py, which has OpenBLAS take the CPU's widest vectors, with nothing else on the machine.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/gemm/kernel.h"
#include "core/threads/parallel.h"
#include "tools/bench/bench.h"

namespace {

using namespace lamina;
using namespace lamina::product_kernels;

using bench::ProductShape;

/// Where an experiment has it, and the product.
const std::vector<std::pair<const char*, ProductShape>> shapes = {
    {"MNIST, first layer", {128, 1000, 784}},
    {"its weights' gradient", {784, 1000, 128, "TN"}},
    {"LSTM, inputs of all steps", {3200, 1024, 128}},
    {"LSTM, one step", {32, 1024, 256}},
    {"skip-thoughts, one step", {64, 4800, 2400}},
    {"MNIST, backward through the second layer", {128, 1000, 1000, "NT"}},
    {"MNIST, last layer", {128, 10, 1000}},
    {"MNIST with batches of 4", {4, 1000, 1000}},
    {"a square one", {2048, 2048, 2048}},
};

/// A product with its matrices, and the steps to it on one thread.
class Measured {
 public:
  explicit Measured(const ProductShape& shape)
      : shape_(shape),
        a_(shape.m * shape.k, real{0.5}),
        b_(shape.k * shape.n, real{0.25}),
        c_(shape.m * shape.n),
        tiles_(shape.m, max_tile_rows),
        vectors_(widest_tile(tiles_.length(0))),
        a_packed_(shape.m * shape.k + lanes, real{0.5}),
        panels_(vectors_ * lanes * shape.k, real{0.25}) {
    packed_.pack(shape.b(), shape.k, shape.n, b_.data(), shape.b_stride());
    Product product{.m = shape.m,
                    .n = shape.n,
                    .k = shape.k,
                    .a_op = shape.a(),
                    .b_op = shape.b(),
                    .a = a_.data(),
                    .lda = shape.a_stride(),
                    .b = b_.data(),
                    .ldb = shape.b_stride(),
                    .c = {c_.data(), shape.n, 1},
                    .addend = {}};
    path_ = choose_path(product);
    exchanged_ = product.m != shape.m;
  }

  std::string path() const {
    static const char* const names[] = {"BLAS", "dot", "stream", "blocked"};
    return names[static_cast<size_t>(path_)] + std::string(exchanged_ ? ", exchanged" : "");
  }
  /// Whether it runs in register tiles of core/gemm/kernel.cpp, or would with packed weights.
  bool has_tiles() const { return path_ == Path::blocked; }
  bool can_be_packed() const { return shape_.a() == Transpose::no; }

  /// Tiles of the height that the product has, with so short a k that a and b stay in L1.
  void tile_in_l1() {
    const size_t rows = tiles_.length(0), columns = vectors_ * lanes, depth = depth_in_l1();
    const TileKernel kernel = tile_kernel(rows, vectors_, Source::cache);
    for (size_t done = 0; done < tiles_in_l1(); ++done) run_tile(kernel, depth, a_packed_.data(), 0, columns);
  }
  double flops_in_l1() const {
    return 2.0 * static_cast<double>(tiles_in_l1() * tiles_.length(0) * vectors_ * lanes * depth_in_l1());
  }

  /// All tiles of rows beside one panel of b, as often as the product has panels: packed a and b from L2.
  void panel_in_l2() {
    for (size_t j = 0; j + vectors_ * lanes <= shape_.n; j += vectors_ * lanes)
      for (size_t i = 0; i < tiles_.count; ++i)
        run_tile(tile_kernel(tiles_.length(i), vectors_, Source::cache), shape_.k,
                 a_packed_.data() + tiles_.begin(i) * shape_.k, tiles_.begin(i), j);
  }
  double flops_in_l2() const {
    const size_t width = vectors_ * lanes, covered = shape_.n / width * width;  // columns of whole panels
    return 2.0 * static_cast<double>(shape_.m * shape_.k * covered);
  }

  /// b packed before, as the weights of a recurrent layer are; a is packed here.
  void weights_packed() {
    gemm_packed(shape_.m, a_.data(), shape_.a_stride(), packed_, c_.data(), shape_.n, false);
  }
  void whole() {
    gemm(shape_.m, shape_.n, shape_.k, a_.data(), shape_.a_stride(), b_.data(), shape_.b_stride(), c_.data(),
         shape_.n, {.a = shape_.a(), .b = shape_.b()});
  }

 private:
  size_t depth_in_l1() const {
    return std::min<size_t>(shape_.k, 128);
  }  // 23 KB beside a tile of 14 x 2 vectors
  static size_t tiles_in_l1() { return 100; }

  void run_tile(TileKernel kernel, size_t k, const real* a, size_t row, size_t column) {
    kernel({.k = k,
            .a = a,
            .b = panels_.data(),
            .b_row = panel_columns,
            .b_panel = panel_columns * k,
            .c = c_.data() + row * shape_.n + column,
            .c_row = shape_.n,
            .addend = nullptr,
            .addend_row = 0});
  }

  ProductShape shape_;
  std::vector<real> a_, b_, c_;
  Parts tiles_;
  size_t vectors_;
  std::vector<real> a_packed_, panels_;
  PackedMatrix packed_;
  Path path_;
  bool exchanged_;
};

/// GFLOP/s of `step`, in turns with the peak of as many threads as are in use: its share of it.
std::string share_of_peak(double flops, double seconds, const std::function<void()>& step) {
  double best = 1e9, peak = 0;
  const double end = bench::now() + seconds;
  while (peak == 0 || bench::now() < end) {
    best = std::min(best, bench::best_times({step}, flops, seconds / 4)[0]);
    peak = std::max(peak, measure_peak_gflops(threads()));
  }
  char text[16];
  std::snprintf(text, sizeof text, "%.0f%%", 100 * flops / best / 1e9 / peak);
  return text;
}

void print_row(const char* where, const ProductShape& shape, double seconds) {
  Measured product(shape);
  const auto share = [&](bool applies, double flops, void (Measured::*step)()) {
    return applies ? share_of_peak(flops, seconds, [&] { (product.*step)(); }) : std::string("-");
  };
  const int all = threads();
  set_threads(1);
  const std::string tile = share(product.has_tiles(), product.flops_in_l1(), &Measured::tile_in_l1);
  const std::string panel = share(product.has_tiles(), product.flops_in_l2(), &Measured::panel_in_l2);
  const std::string packed = share(product.can_be_packed(), shape.flops(), &Measured::weights_packed);
  const std::string alone = share(true, shape.flops(), &Measured::whole);
  set_threads(all);
  const std::string together = share(all > 1, shape.flops(), &Measured::whole);
  std::printf("| %s | %zu x %zu x %zu %s | %s | %s | %s | %s | %s | %s |\n", where, shape.m, shape.n, shape.k,
              shape.form.c_str(), product.path().c_str(), tile.c_str(), panel.c_str(), packed.c_str(),
              alone.c_str(), together.c_str());
  std::fflush(stdout);
}

void print_table(double seconds) {
  const int all = threads();
  std::printf("%s; peak of one thread %.0f GFLOP/s, of %d %.0f\n\n", gemm_backend(), measure_peak_gflops(1),
              all, measure_peak_gflops(all));
  std::printf(
      "| product | m x n x k | path | tile in L1 | panel in L2 | weights packed | whole, 1 thread | %d "
      "threads |\n"
      "|---|---|---|---|---|---|---|---|\n",
      all);
  for (const auto& [where, shape] : shapes) print_row(where, shape, seconds);
}

}  // namespace

int main(int argc, char** argv) {
  Command program("bench_product", "A product's share of the machine's peak at each step; a markdown table.");
  program.footer("Example: build/bench_product --seconds 1");
  return bench::run(program, {.seconds = 0.4}, "measured per step", argc, argv, print_table);
}
