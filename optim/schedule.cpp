#include "optim/schedule.h"

#include <cmath>
#include <numbers>

#include "core/error.h"

namespace lamina {

real StepSchedule::at(std::uint64_t step) const {
  if (interval == 0) fail("step schedule: an interval of 0 steps; it must be positive");
  const std::uint64_t passed = step / interval;
  return initial * static_cast<real>(std::pow(factor, static_cast<real>(passed)));
}

real CosineSchedule::at(std::uint64_t step) const {
  if (warmup > steps)
    fail("cosine schedule: a warm-up of ", warmup, " steps in ", steps, "; it must end within them");
  if (step < warmup) return initial * static_cast<real>(step + 1) / static_cast<real>(warmup);
  if (step >= steps) return final;
  // In double: near the end 1 + cos has few digits of float left.
  const double progress = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
  const double share = (1 + std::cos(std::numbers::pi * progress)) / 2;
  return static_cast<real>(static_cast<double>(final) + static_cast<double>(initial - final) * share);
}

}  // namespace lamina
