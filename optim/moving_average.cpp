#include "optim/moving_average.h"

#include <utility>

#include "core/distributed/machine/shared_model.h"
#include "core/ops/map.h"

namespace lamina {

namespace {
constexpr const char* lock_reason =
    "the weights are swapped for their moving averages, which are not to be trained; swap them back first";
}

MovingAverage::MovingAverage(Parameters& parameters, const MovingAverageOptions& chosen)
    : options(chosen), lifetime_(parameters.lifetime()) {
  if (!(chosen.decay >= 0 && chosen.decay < 1))
    fail("moving average: decay ", chosen.decay, "; it must be at least 0 and below 1");
  const std::span<const real> values = parameters.values();
  averages_ = Tensor::from({values.size()}, values);
  for (size_t i = 0; i < parameters.learned().size(); ++i) {
    const auto& [name, value] = parameters.learned()[i];
    const size_t begin = parameters.offset(i);
    parameters.add_state("average." + name,
                         averages_.slice(begin, begin + value.size()).reshape(value.shape()));
  }
}

Parameters& MovingAverage::parameters() const {
  const auto place = lifetime_.lock();
  if (place == nullptr)
    fail("moving average: the parameters are gone; keep them as long as it, and declare them before it");
  return **place;
}

Parameters& MovingAverage::unchanged_parameters() const {
  Parameters& all = parameters();
  if (all.values().size() != averages_.size())
    fail("moving average: the model grew after it was made; make it when all layers exist");
  return all;
}

/// a += (1 - decay) (w - a), which leaves a unchanged once it equals w
void MovingAverage::update() {
  Parameters& all = unchanged_parameters();
  if (swapped_) fail("moving average: ", lock_reason);
  const real rate = 1 - options.decay;
  for_each_index(averages_.size(), [=, w = all.values().data(), a = averages_.data()](size_t i) {
    a[i] += rate * (w[i] - a[i]);
  });
}

void MovingAverage::swap() {
  Parameters& all = swapped_ ? parameters() : unchanged_parameters();
  if (!swapped_ && !all.locked().empty()) fail("moving average: ", all.locked());
  if (!swapped_ && distributed::is_common(all))
    fail(
        "moving average: the ranks of this machine hold one copy of the weights, which each of them would "
        "swap; "
        "start them with LAMINA_SHARED_MEMORY=0, so that each has its own");
  for_each_index(averages_.size(), [w = all.values().data(), a = averages_.data()](size_t i) {
    const real weight = w[i];
    w[i] = a[i];
    a[i] = weight;
  });
  swapped_ = !swapped_;
  if (swapped_)
    all.lock(lock_reason);
  else
    all.unlock();
}

/// Parameters that no longer exist need no swap back.
MovingAverage::Applied::~Applied() {
  if (average_.swapped_ && !average_.lifetime_.expired()) average_.swap();
}

MovingAverage::Applied MovingAverage::apply() {
  if (swapped_) fail("moving average: the averages are swapped in already");
  return Applied(*this);
}

}  // namespace lamina
