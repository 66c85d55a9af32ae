// What a run takes in which step, and how many steps it has.

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/math/random.h"
#include "models/training/training.h"

namespace lamina {

std::span<const int> EpochOrder::batch_of(std::uint64_t step) {
  constexpr std::uint64_t order_stream = 0x6f72646572;  // epochs draw their order apart from everything else
  if (steps_per_epoch() == 0)
    fail("epoch order: batches of ", batch_, " from ", cases_, " cases; choose from 1 to ", cases_);
  const std::uint64_t epoch = step / steps_per_epoch();
  if (epoch != epoch_) {
    order_ = Random(seed_, order_stream).split(epoch).permutation(cases_);
    epoch_ = epoch;
  }
  return std::span(order_).subspan(step % steps_per_epoch() * batch_, batch_);
}

std::uint64_t updates_in(std::uint64_t epochs, std::uint64_t steps_per_epoch) {
  constexpr std::uint64_t most = std::uint64_t{1} << std::numeric_limits<double>::digits;
  if (steps_per_epoch > 0 && epochs > most / steps_per_epoch)
    fail<UsageError>("--epochs ", epochs, ": with ", steps_per_epoch, " updates each they are more than ",
                     most, "; choose at most ", most / steps_per_epoch);
  return epochs * steps_per_epoch;
}

TrainingPlan plan_in_periods(const RunLabel& label, std::uint64_t steps, std::uint64_t each,
                             const std::string& period) {
  if (steps == 0 || each == 0)
    fail("training: ", steps, " steps, evaluated every ", each, "; both must be positive");
  const std::uint64_t length = std::min(steps, each);
  return {.label = label,
          .steps_per_epoch = length,
          .epochs = (steps - 1) / length + 1,
          .last_epoch_steps = steps % length,
          .epoch = period};
}

}  // namespace lamina
