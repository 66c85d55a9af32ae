// Matrix products as training small models needs them: this library against OpenBLAS and against the
// machine's peak.
// Then batches of small products, as attention has them: `matmul` over a leading axis against one call of OpenBLAS for
// each item.
//
//   bench_gemm [m n k NN|NT|TN]...
//
// Run it by tools/bench_turns.py, which has OpenBLAS take the CPU's widest vectors, with nothing else on the machine.

#include <cblas.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "core/gemm/gemm.h"
#include "core/ops/matmul.h"
#include "core/threads/parallel.h"
#include "tools/bench/bench.h"

extern "C" void openblas_set_num_threads(int);

namespace {

using namespace lamina;

using bench::ProductShape;

const std::vector<ProductShape> usual_shapes = {
    {128, 1000, 784, "NN"},  {128, 1000, 1000, "NT"}, {1000, 784, 128, "TN"},  {784, 1000, 128, "TN"},
    {128, 10, 1000, "NN"},   {1000, 10, 128, "TN"},   {1, 1000, 1000, "NN"},   {4, 1000, 1000, "NN"},
    {4, 784, 1000, "NT"},    {1000, 1000, 4, "TN"},   {8, 1600, 400, "NN"},    {16, 1024, 256, "NN"},
    {32, 1024, 256, "NN"},   {64, 4800, 2400, "NN"},  {3200, 1024, 128, "NN"}, {1024, 256, 3200, "TN"},
    {4000, 1600, 400, "NN"}, {128, 2048, 1024, "NN"}, {1920, 300, 2048, "NN"}, {2048, 2048, 2048, "NN"},
};

/// With one thread, then with two: GFLOP/s of the first candidate with its share of the peak, and of the second. A third
/// is work of the same size for every thread; where there is none, `no_third` stands in its place.
void print_rates(const std::vector<std::function<void()>>& candidates, double flops,
                 const std::vector<double>& peaks, const char* no_third) {
  for (size_t team = 1; team <= peaks.size(); ++team) {
    set_threads(static_cast<int>(team));
    const auto times = bench::best_times(candidates, flops);
    const double rate = flops / times[0] / 1e9;
    std::printf("  |%6.0f %4.0f%% %6.0f", rate, 100 * rate / peaks[team - 1], flops / times[1] / 1e9);
    if (times.size() > 2)
      std::printf(" %6.0f", static_cast<double>(team) * flops / times[2] / 1e9);
    else
      std::printf("%s", no_third);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void blas_product(const ProductShape& s, const real* a, const real* b, real* c) {
#ifdef LAMINA_DOUBLE
  constexpr auto product = cblas_dgemm;
#else
  constexpr auto product = cblas_sgemm;
#endif
  const auto size = [](size_t value) { return static_cast<blasint>(value); };
  const auto blas_op = [](Transpose op) { return op == Transpose::yes ? CblasTrans : CblasNoTrans; };
  product(CblasRowMajor, blas_op(s.a()), blas_op(s.b()), size(s.m), size(s.n), size(s.k), 1, a,
          size(s.a_stride()), b, size(s.b_stride()), 0, c, size(s.n));
}

void measure(const ProductShape& s, const std::vector<double>& peaks) {
  const std::vector<real> a(s.m * s.k, real{0.5}), b(s.k * s.n, real{0.25});
  std::vector<real> c(s.m * s.n), c_packed(s.m * s.n);
  const GemmOptions options{.a = s.a(), .b = s.b()};
  const auto own = [&] {
    gemm(s.m, s.n, s.k, a.data(), s.a_stride(), b.data(), s.b_stride(), c.data(), s.n, options);
  };
  const auto blas = [&] {
    openblas_set_num_threads(threads());  // which the library calls on one, see core/gemm/blas.cpp
    blas_product(s, a.data(), b.data(), c.data());
    openblas_set_num_threads(1);
  };
  PackedMatrix packed;
  packed.pack(s.b(), s.k, s.n, b.data(), s.b_stride());
  // Every thread multiplies all m rows by its own copy of c: the weights are what they share.
  std::vector<std::vector<real>> results(peaks.size(), c);
  const auto shared = [&] {
    for_each_share(static_cast<size_t>(threads()), [&](size_t share) {
      gemm_packed(s.m, a.data(), s.k, packed, results[share].data(), s.n, false);
    });
  };

  std::printf("%4zu x %4zu x %4zu %s", s.m, s.n, s.k, s.form.c_str());
  std::vector<std::function<void()>> candidates = {own, blas};
  if (s.a() == Transpose::no) candidates.push_back(shared);
  print_rates(candidates, s.flops(), peaks, "      -");
}

/// A batch of products of one shape.
struct Batch {
  size_t items;
  ProductShape each;
};

const std::vector<Batch> usual_batches = {
    {64, {128, 128, 32, "NT"}}, {64, {128, 32, 128, "NN"}}, {64, {128, 32, 128, "TN"}},
    {64, {128, 128, 32, "NN"}}, {64, {32, 32, 16, "NN"}},   {256, {16, 16, 16, "NN"}},
};

void measure(const Batch& batch, const std::vector<double>& peaks) {
  const ProductShape& s = batch.each;
  const size_t of_a = s.m * s.k, of_b = s.k * s.n, of_c = s.m * s.n;
  const Tensor a = Tensor::ones({batch.items, of_a / s.a_stride(), s.a_stride()});
  const Tensor b = Tensor::ones({batch.items, of_b / s.b_stride(), s.b_stride()});
  Tensor c({batch.items, s.m, s.n});
  const auto own = [&] { c = matmul(a, b, {.a = s.a(), .b = s.b()}); };
  const auto blas = [&] {
    for (size_t i = 0; i < batch.items; ++i)
      blas_product(s, a.data() + i * of_a, b.data() + i * of_b, c.data() + i * of_c);
  };
  std::printf("%3zu of %3zu x %3zu x %3zu %s", batch.items, s.m, s.n, s.k, s.form.c_str());
  print_rates({own, blas}, static_cast<double>(batch.items) * s.flops(), peaks, "");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<ProductShape> shapes;
  for (int i = 1; i + 3 < argc; i += 4)
    shapes.push_back({std::stoul(argv[i]), std::stoul(argv[i + 1]), std::stoul(argv[i + 2]), argv[i + 3]});
  const auto cores = static_cast<size_t>(threads());
  std::vector<double> peaks;
  for (size_t team = 1; team <= std::min<size_t>(cores, 2); ++team)
    peaks.push_back(measure_peak_gflops(static_cast<int>(team)));
  std::printf(
      "%s\nGFLOP/s: own, share of the measured peak, OpenBLAS, packed weights (every thread its own m "
      "rows)\n",
      gemm_backend());
  std::printf("%-22s", "m x n x k");
  for (size_t team = 1; team <= peaks.size(); ++team)
    std::printf("  | %zu thread%s, peak %3.0f     ", team, team > 1 ? "s" : " ", peaks[team - 1]);
  std::printf("\n");
  for (const ProductShape& shape : shapes.empty() ? usual_shapes : shapes) measure(shape, peaks);
  if (!shapes.empty()) return 0;
  std::printf(
      "\nbatches, GFLOP/s: matmul, share of the measured peak, OpenBLAS item by item on one thread\n");
  for (const Batch& batch : usual_batches) measure(batch, peaks);
}
