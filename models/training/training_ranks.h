#pragma once
// What the ranks that train together exchange in a training step: their gradients, their losses, and whether one of
// them was interrupted. With one rank there is nothing to exchange.

#include <cstdint>
#include <vector>

#include "core/distributed/batch_part.h"
#include "core/distributed/gradient_sum.h"
#include "core/distributed/machine/shared_model.h"
#include "core/parameters.h"
#include "models/run/run_state.h"
#include "optim/optimizer.h"

namespace lamina {

/// The steps of this rank in a run.
class RankSteps {
 public:
  /// In which steps something besides the optimizer reads the gradients: always, or for rows of steps.csv and for the
  /// record, in the first step and then in every so many (0: never). What the first rank says counts, as it alone writes
  /// files.
  struct GradientsRead {
    bool always = false;
    std::uint64_t rows = 0, record = 0;
  };
  /// All ranks together, after share_state(). The ranks of a machine then hold one model (SharedModel), until this ends.
  RankSteps(Parameters& parameters, Optimizer& optimizer, GradientsRead read);
  ~RankSteps();
  RankSteps(const RankSteps&) = delete;
  RankSteps& operator=(const RankSteps&) = delete;

  /// While one lives, a step that the ranks share.
  class Step {
   public:
    /// The one after `steps_done` others. Where something reads the gradients they are the sums of all ranks after
    /// backward_done(), else sums that only the optimizer's step completes.
    Step(RankSteps& steps, std::uint64_t steps_done);

    /// After the forward pass: begins to sum the losses of all ranks.
    void forward_done(double loss, bool interrupted);
    /// After backward(): waits for the sums of all losses and gradients.
    void backward_done();

    /// Before the optimizer's step, when nothing reads the parameters any more. All have them in common: where gradients are
    /// read always, as a penalty on the weights is added there, or the first rank records, none updates them earlier.
    void parameters_read();

    /// After the optimizer's step: waits until all have updated their parts.
    void update_done() { steps_.model_.updated(); }

    double loss() const { return steps_.exchanged_[0]; }           ///< of the whole batch
    bool interrupted() const { return steps_.exchanged_[1] > 0; }  ///< any rank

   private:
    RankSteps& steps_;
    std::uint64_t steps_done_;
    distributed::SharedStep shared_;
  };

 private:
  bool are_read(std::uint64_t steps_done) const;

  GradientsRead read_;
  Optimizer& optimizer_;
  distributed::SharedModel model_;
  distributed::GradientSum gradients_;
  std::vector<double> exchanged_;  ///< loss, and how many ranks were interrupted
};

/// The first rank's position, parameters and state of the optimizer, on every rank.
void share_state(Parameters& parameters, Optimizer& optimizer, Position& position);

/// Every `steps_between_checks` steps: DataError on a rank whose learned values are not those of rank 0, bit for bit.
inline constexpr std::uint64_t steps_between_checks = 100;
void require_equal_parameters(Parameters& parameters, std::uint64_t step);

}  // namespace lamina
