#pragma once
// What Lamina (tools/bench/bench_small.cpp) and its peers compute for the table of small batches (tools/bench/small.md), and the
// main function that all of them have. Needs the standard library alone.
//
//   mlp          784 - 1000 - 1000 - 10 with relu, cross entropy
//   convnet      28 x 28: 5 x 5 to 32 channels, relu, max pool 2; the same to 64; 512, relu; 10; cross entropy
//   lstm, gru    128 -> 256 over 100 steps, mean square of the states
//   transformer  2 blocks of width 64, 4 heads, 64 characters of 80, layer norm before each part, cross entropy
//
// "mlp_b4" is a training step (forward, loss, backward, Adam) on a batch of 4, "mlp_one" the forward pass of one case.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>

#include "tools/peers/bursts.h"
#include "tools/peers/heap_allocations.h"

namespace lamina::bench {

struct SmallCase {
  std::string model;
  size_t batch = 1;
  bool trains = true;
};

/// Repeating one batch must not drift into another regime.
inline constexpr float small_learning_rate = 1e-5F;

/// A case that is ready to be timed.
struct Small {
  std::function<void()> step;
  size_t parameters;
};

/// Throws std::invalid_argument for what is no name of a case.
inline SmallCase small_case(const std::string& name) {
  const size_t line = name.rfind('_');
  const std::string rest = line == std::string::npos ? "" : name.substr(line + 1);
  if (rest == "one") return {name.substr(0, line), 1, false};
  const bool number = rest.size() > 1 && rest.size() < 6 && rest[0] == 'b' &&
                      std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; });
  const size_t batch = number ? std::stoul(rest.substr(1)) : 0;
  if (batch == 0) throw std::invalid_argument("no case '" + name + "'; say mlp_b4 or mlp_one, for example");
  return {name.substr(0, line), batch, true};
}

/// Calls of malloc in a step, on average, or -1 where nobody counts them.
inline double allocations_of(const Small& timed) {
  constexpr int steps = 10;
  timed.step();
  timed.step();
  const auto before = heap_allocations();
  for (int i = 0; i < steps; ++i) timed.step();
  const auto after = heap_allocations();
  return before && after ? static_cast<double>(*after - *before) / steps : -1;
}

/// Runs `PROGRAM --case NAME`: answers bursts, and "facts" with JSON. `make` throws std::invalid_argument for models that it
/// does not have.
inline int run_small(int argc, char** argv, Small (*make)(const SmallCase&)) try {
  if (argc != 3 || std::string(argv[1]) != "--case")
    throw std::invalid_argument(std::string("usage: echo 0.1 facts | ") + argv[0] + " --case mlp_b4");
  const Small timed = make(small_case(argv[2]));
  answer_bursts(timed.step, [&](const std::string& word) {
    if (word != "facts")
      throw std::invalid_argument("'" + word +
                                  "' on standard input is neither a number of seconds nor facts");
    const double allocations = allocations_of(timed);
    std::cout << "{\"params\": " << timed.parameters << ", \"peak_rss_mb\": " << peak_rss_mb()
              << ", \"allocations\": " << allocations << "}";
  });
  return 0;
} catch (const std::exception& error) {
  std::cerr << argv[0] << ": " << error.what() << "\n";
  return 2;
}

}  // namespace lamina::bench
