// Exercise: early stopping.
#include "exercises.h"

bool EarlyStopping::improved(double loss) {
  // [ your code: compare with best_, and count in waited_
  const bool better = loss < best_;
  if (better) best_ = loss;
  waited_ = better ? 0 : waited_ + 1;
  return better;
  // | return false;
  // ]
  // mistake: your rule compares with the loss before; it must compare with the lowest so far
  // ~ const bool better = loss < best_;
  // ~ best_ = loss;
  // ~ waited_ = better ? 0 : waited_ + 1;
  // ~ return better;
  // mistake: your rule does not begin to count anew after an improvement
  // ~ const bool better = loss < best_;
  // ~ if (better) best_ = loss;
  // ~ if (!better) ++waited_;
  // ~ return better;
  // mistake: your rule takes an equal loss for an improvement
  // ~ const bool better = loss <= best_;
  // ~ if (better) best_ = loss;
  // ~ waited_ = better ? 0 : waited_ + 1;
  // ~ return better;
  // mistake: your rule takes NaN for an improvement: loss >= best_ is false for it, and so is loss < best_
  // ~ const bool worse = loss >= best_;
  // ~ if (!worse) best_ = loss;
  // ~ waited_ = worse ? waited_ + 1 : 0;
  // ~ return !worse;
}

bool EarlyStopping::stop() const {
  // [ your code: has it waited for long enough?
  return waited_ >= patience_;
  // | return false;
  // ]
  // mistake: your rule stops one loss too late: after patience + 1 that are not lower
  // ~ return waited_ > patience_;
  // mistake: your rule never stops
  // ~ return false;
}
