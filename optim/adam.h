#pragma once
// Adam (Kingma and Ba 2015) over all parameters in one pass.

#include <memory>
#include <vector>

#include "core/parameters.h"

namespace lamina {

struct AdamOptions {
  real learning_rate = real(1e-3);
  real beta1 = real(0.9);
  real beta2 = real(0.999);
  real epsilon = real(1e-8);
  real weight_decay = 0;  ///< decoupled (Loshchilov and Hutter 2019): w -= learning_rate * weight_decay * w
};

/// t += 1;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
/// w -= learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
class Adam {
 public:
  /// Make it after the layers have added their parameters. Throws Error for a learning rate or an epsilon
  /// that is not positive, or a beta outside [0, 1).
  Adam(Parameters& parameters, const AdamOptions& options);

  /// Updates every parameter from its gradient and sets the gradients to zero. Throws Error when parameters
  /// were added after this optimizer was made.
  void step();

  /// Lazy Adam: from here on a step updates only these rows of `table`, weights and moments, and leaves the
  /// others as they are, where Adam would let them drift on along their old moments and decay these. `rows`
  /// must list at each step all rows whose gradient is not zero. Throws Error when `table` is no parameter.
  void update_only(const Tensor& table, std::shared_ptr<const std::vector<int>> rows);

  AdamOptions options;  ///< the learning rate may be changed between steps

  /// For checkpoints: number of steps taken, and the two moments in the layout of parameters.values().
  std::uint64_t steps = 0;
  Tensor first_moment, second_moment;

 private:
  struct Lazy {
    size_t begin, end, width;  // of the table, in the flat buffers
    std::shared_ptr<const std::vector<int>> rows;
  };

  Parameters& parameters_;
  std::vector<Lazy> lazy_;  // in the order of the flat buffers
};

}  // namespace lamina
