#pragma once
// What every judge uses: it runs the exercises one by one, and says what is wrong in the student's terms.
//
//   int main() {
//     course::exercise("tanh_backward", [] {
//       const Numbers yours = ..., right = ...;
//       return course::compare("dx", yours, right, {{slopes, "your dx lacks the factor dy"}});
//     });
//     return course::verdict();
//   }
//
// prints `tanh_backward: right`, or `tanh_backward: your dx lacks the factor dy`, and `0 passed, 1 failed`.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace course {

using Numbers = std::vector<double>;

/// What a likely mistake computes, and what to say about it.
struct Mistake {
  Numbers gives;
  std::string message;
};

struct Counts {
  int passed = 0, failed = 0;
};
inline Counts& counts() {
  static Counts of_all;
  return of_all;
}

/// Calls `run` in a process of its own, because a student's code may crash or never end; at most a minute of a core.
/// Returns "" if `run` returned true, "failed" if it returned false, otherwise what became of it.
inline std::string apart(const std::function<bool()>& run) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    rlimit seconds{};
    getrlimit(RLIMIT_CPU, &seconds);
    if (seconds.rlim_cur == RLIM_INFINITY) seconds.rlim_cur = 60;
    setrlimit(RLIMIT_CPU, &seconds);
    const bool good = run();
    std::cout.flush();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0)
    return "cannot run it: " + std::string(std::strerror(errno));
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? "" : "failed";
  if (WTERMSIG(status) == SIGXCPU)
    return "your code does not end: a loop runs forever, or takes far too long";
  return "your code crashes (" + std::string(strsignal(WTERMSIG(status))) +
         "): an index or a pointer leaves its range, or a function calls itself without end";
}

/// Runs `check`, which returns "" or what is wrong; an exception is what is wrong. Prints one line.
inline void exercise(const std::string& name, const std::function<std::string()>& check) {
  const auto prints = [&](const std::string& wrong) {
    std::cout << name << ": " << (wrong.empty() ? "right" : wrong) << std::endl;
    return wrong.empty();
  };
  const std::string became = apart([&] {
    try {
      return prints(check());
    } catch (const std::exception& error) {
      return prints(error.what());
    }
  });
  if (!became.empty() && became != "failed") prints(became);
  ++(became.empty() ? counts().passed : counts().failed);
}

/// Prints the counts; returns the exit code of main.
inline int verdict() {
  std::cout << counts().passed << " passed, " << counts().failed << " failed\n";
  return counts().failed > 0 ? 1 : 0;
}

/// The values of a tensor, or of anything else that has values().
template <class Tensor>
Numbers numbers(const Tensor& x) {
  const auto values = x.values();
  return Numbers(values.begin(), values.end());
}

/// The largest difference is at most `tolerance` of the largest number of `right`. What is not finite equals nothing.
inline bool equal(const Numbers& yours, const Numbers& right, double tolerance = 1e-6) {
  if (yours.size() != right.size()) return false;
  double largest = 0, apart = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    if (!std::isfinite(yours[i]) || !std::isfinite(right[i])) return false;
    largest = std::max(largest, std::fabs(right[i]));
    apart = std::max(apart, std::fabs(yours[i] - right[i]));
  }
  return apart <= tolerance * (largest > 0 ? largest : 1);
}

inline Numbers times(double factor, Numbers x) {
  for (double& v : x) v *= factor;
  return x;
}

/// "" if `yours` is `right`. Otherwise what is wrong with it: one of the mistakes, or one that can befall every formula:
/// zeros, NaN, the sign, a factor. `what` is the result's name, such as "d(gain)".
inline std::string compare(const std::string& what, const Numbers& yours, const Numbers& right,
                           const std::vector<Mistake>& mistakes = {}, double tolerance = 1e-6) {
  std::ostringstream wrong;
  wrong.precision(4);
  if (equal(yours, right, tolerance)) return "";
  if (yours.size() != right.size()) {
    wrong << "your " << what << " has " << yours.size() << " numbers; it must have " << right.size();
    return wrong.str();
  }
  const auto place = [&](size_t i) { return right.size() > 1 ? what + "[" + std::to_string(i) + "]" : what; };
  const auto is_zero = [](double v) { return v == 0; };
  if (std::all_of(yours.begin(), yours.end(), is_zero))
    return "your " + what + " is not written yet: it returns zeros";
  for (const Mistake& mistake : mistakes)
    if (equal(yours, mistake.gives, tolerance)) return mistake.message;
  for (size_t i = 0; i < yours.size(); ++i)
    if (!std::isfinite(yours[i])) {
      wrong << "your " << place(i) << " is " << yours[i] << ", not a number one can compute with";
      return wrong.str();
    }
  if (equal(times(-1, yours), right, tolerance)) return "your " + what + " has the wrong sign";
  size_t largest = 0, worst = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    if (std::fabs(right[i]) > std::fabs(right[largest])) largest = i;
    if (std::fabs(yours[i] - right[i]) > std::fabs(yours[worst] - right[worst])) worst = i;
  }
  const double factor = yours[largest] / right[largest];
  if (right.size() > 1 && factor != 0 && equal(yours, times(factor, right), tolerance)) {
    wrong << "your " << what << " is " << factor << " times what it must be";
  } else {
    if (std::fabs(yours[worst] - right[worst]) < 1e-3 * std::fabs(right[worst])) wrong.precision(10);
    wrong << "your " << place(worst) << " is " << yours[worst] << "; it must be " << right[worst];
  }
  return wrong.str();
}

}  // namespace course
