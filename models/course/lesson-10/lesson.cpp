// Why is it fast? A matrix product from three loops to a kernel in six steps, the roofline, and small recurrent steps.
#include <lamina.h>
#include <lamina/extend.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
using namespace lamina;

/// Processor time of a call, on which other programs have little influence: of the fastest of several series.
template <class F>
double seconds(const F& call) {
  double best = INFINITY;
  for (double calls = 1, passed = 0; passed < 0.15; calls *= 2) {
    const std::clock_t begin = std::clock();
    for (double i = 0; i < calls; ++i) call();
    passed = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / threads();
    if (passed > 0.01) best = std::min(best, passed / calls);
  }
  return best;
}

// --- Six ways to c += a b, for matrices of n x n numbers, row by row in memory

constexpr size_t n = 1024, block = 256;

void three_loops(const real* a, const real* b, real* c) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

/// The innermost loop runs along rows of b and c, which compilers turn into vector code. Of b, a block of size x size
/// numbers serves all rows of a before the next is fetched; there is one block if size is n.
template <size_t size>
void order(const real* a, const real* b, real* c) {
  for (size_t k0 = 0; k0 < n; k0 += size)
    for (size_t j0 = 0; j0 < n; j0 += size)
      for (size_t i = 0; i < n; ++i)
        for (size_t k = k0; k < k0 + size; ++k)
          for (size_t j = j0; j < j0 + size; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

constexpr size_t bytes = __BIGGEST_ALIGNMENT__, rows = bytes / 8, columns = 2 * bytes / sizeof(real);
typedef real Vector __attribute__((vector_size(bytes)));
typedef Vector InMemory __attribute__((aligned(sizeof(real)), may_alias));

/// c[rows x columns] += a[rows x block] b[block x columns]. The sums stay in registers, two vectors (of 32 bytes with
/// AVX2, 64 with AVX-512) in a row: b is loaded once for all rows of a, and c once for the whole block.
void tile(const real* a, const real* b, size_t b_stride, real* c) {
  Vector sums[rows][2] = {};
  for (size_t k = 0; k < block; ++k) {
    const InMemory* const b_row = reinterpret_cast<const InMemory*>(b + k * b_stride);
    for (size_t i = 0; i < rows; ++i)
      for (size_t v = 0; v < 2; ++v) sums[i][v] += a[i * n + k] * b_row[v];
  }
  for (size_t i = 0; i < rows; ++i)
    for (size_t v = 0; v < 2; ++v) reinterpret_cast<InMemory*>(c + i * n)[v] += sums[i][v];
}

void vectors(const real* a, const real* b, real* c) {
  for (size_t k = 0; k < n; k += block)
    for (size_t j = 0; j < n; j += columns)
      for (size_t i = 0; i < n; i += rows) tile(a + i * n + k, b + k * n + j, n, c + i * n + j);
}

/// The columns of b that a tile reads are copied, so that they follow each other in memory instead of n apart. The
/// threads share the rows of a.
void packing(const real* a, const real* b, real* c) {
  Tensor copy({n, n});
  real* const packed = copy.data();
  for (size_t k = 0; k < n; ++k)
    for (size_t j = 0; j < n; ++j)
      packed[j / columns * columns * n + k * columns + j % columns] = b[k * n + j];
  parallel_for(n / rows, 1, [=](size_t begin, size_t end) {
    for (size_t k = 0; k < n; k += block)
      for (size_t j = 0; j < n; j += columns)
        for (size_t i = begin * rows; i < end * rows; i += rows)
          tile(a + i * n + k, packed + j * n + k * columns, columns, c + i * n + j);
  });
}

void time_product(const char* name, void (*product)(const real*, const real*, real*)) {
  Tensor a = Tensor::ones({n, n}), b = Tensor::ones({n, n}), c = Tensor::zeros({n, n});
  const double speed = 2e-9 * n * n * n / seconds([&] { product(a.data(), b.data(), c.data()); });
  const double percent = 100 * speed / measure_peak_gflops(threads());
  std::printf("%-12s%7.1f GFLOP/s, %4.1f%% of the peak\n", name, speed, percent);
}

/// What products of `batch` rows with a matrix beyond any cache reach (red) of what arithmetic and memory permit (blue).
void roofline() {
  const size_t in = 2048, out = 4096;
  const Tensor w = Tensor::ones({in, out}), x = Tensor::ones({256, in});
  const double peak = measure_peak_gflops(1), size = sizeof(real) * in * out;
  const double bandwidth = 1e-9 * size / seconds([&] { sum(w); });
  std::printf("memory: %.1f GB/s\n", bandwidth);
  std::ofstream svg("roofline.svg");
  svg << "<svg xmlns='http://www.w3.org/2000/svg' width='520' height='440' font-size='13'>\n"
      << "<rect width='520' height='440' fill='#fff'/>\n<text x='5' y='20'>GFLOP/s</text>\n";
  for (int i = 0; i <= 8; ++i)  // both axes are logarithmic: 50 to the right, or 40 up, for a factor of two
    svg << "<text x='" << 50 * i + 60 << "' y='405'>" << std::ldexp(0.25, i) << "</text>\n<text x='20' y='"
        << 385 - 40 * i << "'>" << std::ldexp(1, i) << "</text>\n";
  svg << "<text x='200' y='430'>FLOP per byte</text>\n<g transform='translate(170 380) scale(50 -40)' "
      << "fill='none' stroke-width='0.05'>\n<path stroke='#27b' d='M-2 " << std::log2(bandwidth / 4) << "L"
      << std::log2(peak / bandwidth) << " " << std::log2(peak) << "H6'/>\n<path stroke='#c33' d='M";
  for (size_t batch = 1; batch <= 256; batch *= 2) {
    const double per_byte = 2 * static_cast<double>(batch) / sizeof(real);
    const double roof = std::min(peak, bandwidth * per_byte);
    const double speed = 1e-9 * per_byte * size / seconds([&] { matmul(slice(x, 0, 0, batch), w); });
    std::printf("batch %3zu: %5.2f FLOP/byte, %6.1f of %6.1f GFLOP/s\n", batch, per_byte, speed, roof);
    svg << std::log2(per_byte) << " " << std::log2(speed) << " ";
  }
  svg << "'/>\n</g>\n</svg>\n";
}

/// A step of an LSTM of 128 units: its product, all of it as one op, and as 15 ops.
void recurrent_step(size_t batch) {
  const size_t hidden = 128, steps = 100;
  Parameters parameters(1);
  const Lstm lstm(parameters, "lstm", {.input = 1, .hidden = hidden});
  const Tensor x = Tensor::ones({steps, batch, 1}), from_x = Tensor::ones({batch, 4 * hidden});
  Tensor h = Tensor::zeros({batch, hidden}), c = h;
  const double product = seconds([&] { matmul(h, lstm.hidden_weight); });
  const double one_op = seconds([&] { lstm(x); }) / steps;
  const double ops = seconds([&] {
    const Tensor all = matmul(h, lstm.hidden_weight) + from_x;
    const auto gate = [&](size_t k) { return slice(all, 1, k * hidden, (k + 1) * hidden); };
    c = sigmoid(gate(0)) * c + sigmoid(gate(1)) * tanh(gate(3));
    h = sigmoid(gate(2)) * tanh(c);
  });
  const double at_peak = 8e-9 * static_cast<double>(batch * hidden * hidden) / measure_peak_gflops(1);
  std::printf("batch %2zu: product at peak %5.1f us, product %5.1f us, one op %5.1f us, 15 ops %5.1f us\n",
              batch, 1e6 * at_peak, 1e6 * product, 1e6 * one_op, 1e6 * ops);
}

int main() {
  set_threads(1);
  time_product("three loops", three_loops);
  time_product("order", order<n>);
  time_product("blocking", order<block>);
  time_product("vectors", vectors);
  time_product("packing", packing);
  set_threads(0);
  time_product("threads", packing);
  set_threads(1);
  roofline();
  for (const size_t batch : {1, 4, 16, 64}) recurrent_step(batch);
}
