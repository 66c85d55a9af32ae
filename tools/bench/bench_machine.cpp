// The machine's rates, which tools/bench/limits.py sets a training step against: multiply-adds, exponentials and what the
// gates of recurrent layers are made of, and memory by level, with all threads at once. One JSON line.
//
//   build/bench_machine
//
// With --bursts it stays, and measures again for every line on standard input.

#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "core/gemm/gemm.h"
#include "core/math/math.h"
#include "core/threads/parallel.h"
#include "tools/bench/bench.h"
#include "tools/flags/training/common_flags.h"

namespace {

using namespace lamina;

constexpr size_t tries = 5;

/// Best seconds in which all threads have finished body(thread), each beginning at the same moment.
template <class Body>
double best_together(const Body& body) {
  const auto team = static_cast<size_t>(threads());
  double best = 1e9;
  for (size_t attempt = 0; attempt < tries; ++attempt) {
    std::vector<double> seconds(team);
    for_each_member(team, [&](size_t thread) {
      barrier();
      const double begin = bench::now();
      body(thread);
      seconds[thread] = bench::now() - begin;
    });
    best = std::min(best, *std::ranges::max_element(seconds));
  }
  return best;
}

/// Elements a nanosecond of y = function(x), both in L1.
template <class Function>
double elementwise_rate(const Function& function) {
  constexpr size_t count = 2048, repeats = 200;
  const auto team = static_cast<size_t>(threads());
  std::vector<std::vector<real>> x(team, std::vector<real>(count)), y = x;
  for (std::vector<real>& each : x)
    for (size_t i = 0; i < count; ++i) each[i] = static_cast<real>(i) / 512 - 2;
  const double seconds = best_together([&](size_t thread) {
    const real* const from = x[thread].data();
    real* const to = y[thread].data();
    for (size_t repeat = 0; repeat < repeats; ++repeat) {
#pragma omp simd
      for (size_t i = 0; i < count; ++i) to[i] = function(from[i]);
      asm volatile("" : : : "memory");  // every repetition is computed
    }
  });
  return static_cast<double>(team * count * repeats) / seconds / 1e9;
}

/// GB/s of a[i] = b[i] + c[i] * 3 over three arrays of together so many bytes, which all threads share.
class Triad {
 public:
  explicit Triad(size_t bytes) : a_(bytes / 3 / sizeof(real)), b_(a_.size(), 1), c_(a_.size(), 2) {}

  double rate() {
    const size_t repeats = std::max<size_t>(1, (size_t{16} << 20) / (3 * sizeof(real) * a_.size()));
    const auto team = static_cast<size_t>(threads());
    const double seconds = best_together([&](size_t thread) {
      const size_t begin = a_.size() * thread / team, end = a_.size() * (thread + 1) / team;
      real* const a = a_.data();
      const real *const b = b_.data(), *const c = c_.data();
      for (size_t repeat = 0; repeat < repeats; ++repeat) {
#pragma omp simd
        for (size_t i = begin; i < end; ++i) a[i] = b[i] + c[i] * 3;
        asm volatile("" : : : "memory");
      }
    });
    return static_cast<double>(3 * sizeof(real) * a_.size() * repeats) / seconds / 1e9;
  }

 private:
  std::vector<real> a_, b_, c_;
};

}  // namespace

int main(int argc, char** argv) {
  Command program("bench_machine", "The machine's rates, all threads together; a JSON line.");
  int count = 0;
  bool bursts = false;
  add_threads_flag(program, count);
  program.add("--bursts", bursts, "measure once for every line on standard input");
  program.footer("Example: build/bench_machine --threads 1");
  program.action([&] {
    set_threads(count);
    Triad l2(size_t{768} << 10), l3(size_t{8} << 20), memory(size_t{192} << 20);
    const auto print = [&] {
      std::cout << nlohmann::ordered_json{{"threads", threads()},
                                          {"gflops", measure_peak_gflops(threads())},
                                          {"exp", elementwise_rate([](real x) { return scalar::exp(x); })},
                                          {"sigmoid",
                                           elementwise_rate([](real x) { return scalar::sigmoid(x); })},
                                          {"tanh", elementwise_rate([](real x) { return scalar::tanh(x); })},
                                          {"L2", l2.rate()},
                                          {"L3", l3.rate()},
                                          {"memory", memory.rate()}}
                       .dump()
                << std::endl;
    };
    if (!bursts) print();
    for (std::string line; bursts && std::getline(std::cin, line);) print();
    return 0;
  });
  return program.run(argc, argv);
}
