#pragma once
// The adding problem (Hochreiter and Schmidhuber 1997): remember two marked numbers over many steps, and add them.

#include <functional>
#include <memory>
#include <span>

#include "core/math/random.h"
#include "core/parameters.h"
#include "layers/linear.h"
#include "layers/recurrent/recurrent.h"
#include "models/lab/lab.h"
#include "optim/adam.h"

namespace lamina::lab {

/// Inputs [T x B x 2]: a number, uniform in [0, 1), and a mark, which is 1 at one step of the first half and at one of the
/// second, else 0. The target [B x 1] is the sum of the two marked numbers. Always answering 1 has an error of 1/6.
struct AddingCases {
  Tensor x, y;
};
AddingCases adding_cases(size_t steps, size_t cases, Random& random);

/// To choose by, and to measure: drawn from the seed.
struct AddingSets {
  AddingCases valid, test;
};
AddingSets adding_sets(size_t steps, size_t cases, std::int64_t seed);

inline constexpr double error_of_guessing = 1.0 / 6;

struct AddingOptions {
  bool lstm = false;  ///< else a tanh RNN
  Norm norm = Norm::none;
  real gain = 0;  ///< as in RecurrentOptions
  size_t hidden = 32, steps = 50;
  real learning_rate = real(1e-3);
};

/// A recurrent layer, and a linear one that reads its last state.
class AddingModel {
 public:
  AddingModel(const AddingOptions& options, std::uint64_t seed);

  /// One update of Adam with 32 new cases, gradients clipped to a norm of 1.
  void train_step();
  /// The mean squared error over `cases`, with the population's statistics.
  double error(const AddingCases& cases) const;
  /// norm2(dL/dh_t) for every step t, means over the cases, L being the mean squared error of a training batch.
  std::vector<double> gradient_lengths(const AddingCases& cases);

 private:
  Tensor loss(const AddingCases& cases, Mode mode, SequenceRecord* record) const;

  AddingOptions options_;
  std::unique_ptr<Parameters> parameters_;
  std::unique_ptr<Recurrent> layer_;
  Linear output_;
  Adam adam_;
  Random random_;
};

/// What was seen of a training, and the error at its end on cases that choose among several.
struct AddingRun {
  std::vector<Observation> rows;
  double valid_error = 0;
};

/// The rows of the training with the lowest error, over these learning rates.
std::vector<Observation> at_the_best_rate(std::span<const double> rates,
                                          const std::function<AddingRun(real learning_rate)>& train);

}  // namespace lamina::lab
