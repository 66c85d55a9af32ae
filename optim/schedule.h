#pragma once
// Learning rates that change over training, as functions of the step.

#include <cstdint>

#include "core/real.h"

namespace lamina {

/// initial * factor^(number of whole intervals passed)
struct StepSchedule {
  real initial = real(1e-3);
  real factor = real(0.1);
  std::uint64_t interval = 1000;  ///< in steps

  real at(std::uint64_t step) const;  ///< throws Error for an interval of 0 steps
};

/// A linear rise over `warmup` steps, then half a cosine from `initial` down to `final` at step `steps`;
/// `final` from there on (Loshchilov and Hutter 2017). The warm-up is part of the steps.
struct CosineSchedule {
  real initial = real(1e-3);
  real final = 0;
  std::uint64_t warmup = 0;
  std::uint64_t steps = 1000;

  real at(std::uint64_t step) const;  ///< throws Error for a warm-up of more than all steps
};

}  // namespace lamina
