#pragma once
// Learning rates that change over training, as functions of the step.

#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/error.h"
#include "core/real.h"

namespace lamina {

/// initial * factor^(number of whole intervals passed)
struct StepSchedule {
  real initial = real(1e-3);
  real factor = real(0.1);
  std::uint64_t interval = 1000;  ///< in steps

  real at(std::uint64_t step) const {
    if (interval == 0) fail("step schedule: an interval of 0 steps; it must be positive");
    return initial * static_cast<real>(std::pow(factor, static_cast<real>(step / interval)));
  }
};

/// A linear rise over `warmup` steps, then half a cosine from `initial` down to `final` at step `steps`;
/// `final` from there on (Loshchilov and Hutter 2017).
struct CosineSchedule {
  real initial = real(1e-3);
  real final = 0;
  std::uint64_t warmup = 0;
  std::uint64_t steps = 1000;

  real at(std::uint64_t step) const {
    if (step < warmup) return initial * static_cast<real>(step + 1) / static_cast<real>(warmup);
    if (step >= steps) return final;
    // In double: near the end 1 + cos has few digits of float left.
    const double progress = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
    const double share = (1 + std::cos(std::numbers::pi * progress)) / 2;
    return static_cast<real>(static_cast<double>(final) + static_cast<double>(initial - final) * share);
  }
};

}  // namespace lamina
