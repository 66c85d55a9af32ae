#pragma once
// What the benchmark programs share: the clock, the median, and the two flags that all of them have.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/gemm/gemm.h"
#include "core/memory/allocator.h"
#include "core/threads/parallel.h"
#include "tools/flags/command_line.h"
#include "tools/flags/training/common_flags.h"
#include "tools/peers/bursts.h"

namespace lamina::bench {

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Milliseconds of each call of `step`, for so many seconds and at least so often.
template <class Step>
std::vector<double> times_of(double seconds, size_t least, const Step& step) {
  std::vector<double> times;
  const double start = now();
  while (times.size() < least || now() - start < seconds) {
    const double begin = now();
    step();
    times.push_back(1e3 * (now() - begin));
  }
  return times;
}

/// Best seconds of one call of each, all taking turns so that a slow spell of the machine hits all of them; `flops` is the
/// size of one, by which so many calls are timed together that the clock does not matter.
inline std::vector<double> best_times(const std::vector<std::function<void()>>& candidates, double flops,
                                      double seconds = 0.4) {
  const int calls = std::max(1, static_cast<int>(4e7 / flops));
  std::vector<double> best(candidates.size(), 1e9);
  const double end = now() + seconds;
  for (int round = 0; round < 4 || now() < end; ++round)
    for (size_t i = 0; i < candidates.size(); ++i) {
      const double begin = now();
      for (int call = 0; call < calls; ++call) candidates[i]();
      best[i] = std::min(best[i], (now() - begin) / calls);
    }
  return best;
}

/// A product of matrices, each stored as it is or transposed.
struct ProductShape {
  size_t m, n, k;
  std::string form = "NN";  ///< NN, NT or TN

  Transpose a() const { return form[0] == 'T' ? Transpose::yes : Transpose::no; }
  Transpose b() const { return form[1] == 'T' ? Transpose::yes : Transpose::no; }
  size_t a_stride() const { return a() == Transpose::yes ? m : k; }
  size_t b_stride() const { return b() == Transpose::yes ? k : n; }
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

/// Products of weights with `batch` cases: forward, gradient of the weights, and of the inputs but the first.
inline double gflop_of(double weight_uses, double first_uses, size_t batch) {
  return 2e-9 * static_cast<double>(batch) * (3 * weight_uses - first_uses);
}

/// The products of a recurrent layer. Those with the state before the first step are left out, since Lamina leaves them out:
/// it is zeros, and has no gradient.
inline double recurrent_gflop(size_t gates, size_t input, size_t hidden, bool inputs_learn, size_t steps,
                              size_t batch) {
  const auto of_inputs = static_cast<double>(gates * hidden * input),
             of_states = static_cast<double>(gates * hidden * hidden);
  return gflop_of(of_inputs, inputs_learn ? 0 : of_inputs, steps * batch) +
         gflop_of(of_states, 0, (steps - 1) * batch);
}

/// MB that a call of `step` takes from the allocator, which then still has them in its cache.
template <class Step>
double memory_mb(const Step& step) {
  memory::trim();
  const size_t before = memory::statistics().bytes_in_use;
  step();
  const auto after = memory::statistics();
  return static_cast<double>(after.bytes_in_use + after.bytes_cached - before) / (1 << 20);
}

/// How long to measure and with how many threads.
struct Flags {
  double seconds;
  int threads = 0;

  void add_to(Command& program, const std::string& what_seconds_are) {
    program.add("--seconds", seconds, what_seconds_are).positive().show_default();
    add_threads_flag(program, threads);
  }
};

/// The main function of a benchmark that has these flags alone and prints a table.
inline int run(Command& program, Flags flags, const std::string& what_seconds_are, int argc, char** argv,
               const std::function<void(double seconds)>& print_table) {
  flags.add_to(program, what_seconds_are);
  program.action([&] {
    set_threads(flags.threads);
    print_table(flags.seconds);
    return 0;
  });
  return program.run(argc, argv);
}

}  // namespace lamina::bench
