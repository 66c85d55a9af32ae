#pragma once
// How fast a network learns at each learning rate, and at which rates it learns at all.

#include <cstdint>
#include <functional>
#include <vector>

#include "models/lab/lab.h"

namespace lamina::lab {

/// A training in short.
struct Descent {
  double loss = 0;  ///< mean over the last window; infinite where it diverged
  double updates =
      0;  ///< at the end of the first window whose mean is at most the goal; infinite when there is none
};

struct DescentOptions {
  std::uint64_t steps = 0, window = 1;  ///< a window divides the steps
  double goal = 0;
};

/// `train` takes one step and returns its loss. Ends early where that is not finite. Error for a window that does not
/// divide the steps.
Descent follow(const DescentOptions& options, const std::function<double(std::uint64_t step)>& train);

struct RatedDescent {
  double rate = 0;
  Descent descent = {};
};

/// The highest rate that reached the goal; 0 when none did.
double highest_rate(const std::vector<RatedDescent>& sweep);

Lab sgd();

}  // namespace lamina::lab
