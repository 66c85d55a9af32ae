#pragma once
// The exponential moving average of the weights (Polyak and Juditsky 1992), which often generalizes better than the
// last ones.
//
//   MovingAverage average(parameters, {.decay = 0.999});
//   ... adam.step(); average.update(); ...
//   { const auto applied = average.apply(); evaluate(model); }  // with the averages; then the weights again

#include <memory>

#include "core/parameters.h"

namespace lamina {

struct MovingAverageOptions {
  real decay = real(0.999);  ///< in [0, 1)
};

/// a = decay a + (1 - decay) w, starting at the current weights. Running averages of layers are not weights.
///
/// The averages are state of the parameters under "average." and the weight's name: saved and loaded with them. So
/// make this after all layers, and after weights have been loaded from a file that has no averages.
class MovingAverage {
 public:
  /// Throws Error for a decay outside [0, 1), and where the parameters have averages already.
  MovingAverage(Parameters& parameters, const MovingAverageOptions& options);
  MovingAverage(const MovingAverage&) = delete;
  MovingAverage& operator=(const MovingAverage&) = delete;

  /// After each step of the optimizer. Throws Error while the averages are swapped in, and when parameters
  /// were added since or no longer exist.
  void update();

  /// Exchanges weights and averages: once for evaluation, or to save the averages under the weights' names,
  /// and once to undo it. In between, an optimizer's step() throws Error. Throws Error when parameters were added
  /// since it was made; those that are added in between stay as they are. Throws Error where the ranks of a machine hold
  /// one copy of the weights (core/distributed/machine/shared_model.h), which each of them would swap.
  void swap();

  bool swapped() const { return swapped_; }

  /// Swaps the averages in, and back when it goes out of scope.
  class Applied {
   public:
    explicit Applied(MovingAverage& average) : average_(average) { average_.swap(); }
    ~Applied();
    Applied(const Applied&) = delete;
    Applied& operator=(const Applied&) = delete;

   private:
    MovingAverage& average_;
  };
  /// Throws Error when they are swapped in already.
  [[nodiscard]] Applied apply();

  MovingAverageOptions options;

 private:
  Parameters& parameters() const;
  Parameters& unchanged_parameters() const;

  std::weak_ptr<Parameters* const> lifetime_;
  Tensor averages_;  ///< in the layout of parameters.values()
  bool swapped_ = false;
};

}  // namespace lamina
