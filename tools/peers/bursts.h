#pragma once
// How a program takes turns with others (tools/bench_turns.py): it answers every word on standard input in a line, a number
// of seconds with the mean milliseconds of a step in a burst of so long. Needs the standard library alone, so that programs
// that know nothing of Lamina (tools/peers) answer alike.

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace lamina::bench {

/// Seconds from some moment on.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Of this program alone: getrusage begins with the peak of the process that started it.
inline double peak_rss_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> word) return std::stod(word) / 1024;
  return 0;
}

/// Milliseconds of a step, in a burst of so many seconds and at least one step. The first step is not counted, since caches
/// hold what the other program left.
template <class Step>
double burst(const Step& step, double seconds) {
  step();
  const double begin = now();
  size_t steps = 0;
  do {
    step();
    ++steps;
  } while (now() - begin < seconds);
  return 1e3 * (now() - begin) / static_cast<double>(steps);
}

/// Answers standard input until it ends. `answer(word)` prints the answer to a word that is no number of seconds.
template <class Step, class Answer>
void answer_bursts(const Step& step, const Answer& answer) {
  for (std::string word; std::cin >> word;) {
    char* end = nullptr;
    const double seconds = std::strtod(word.c_str(), &end);
    if (*end == '\0' && seconds >= 0 && seconds < 1e6)
      std::cout << burst(step, seconds);
    else
      answer(word);
    std::cout << std::endl;
  }
}

}  // namespace lamina::bench
