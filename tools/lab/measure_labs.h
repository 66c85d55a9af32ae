#pragma once
// Measures the seeds of labs, several at a time, each in a process of its own with one thread.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/lab/rows.h"

namespace lamina::lab {

struct LabTask {
  const Lab* lab = nullptr;
  std::string folder = {};  ///< of its results
};

struct MeasureOptions {
  std::vector<std::int64_t> seeds;
  std::size_t jobs = 1;  ///< seeds at a time at most
};

/// Calls `done` for each lab as soon as all its seeds are there. A seed that fails leaves its output in the lab's folder
/// and costs its lab, and no other. Returns the labs that failed, with why: a line each. Ctrl-C ends all that is at work
/// and returns early.
std::vector<std::string> measure_labs(const std::vector<LabTask>& tasks, const MeasureOptions& options,
                                      const std::function<void(const LabTask&, const Rows&)>& done);

/// What such a process does: writes the rows of one seed to a file.
void measure_seed(const Lab& lab, std::int64_t seed, const std::string& file);

}  // namespace lamina::lab
