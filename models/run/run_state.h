#pragma once
// The files `state` and `model.safetensors` of a run. `state` holds everything that the next training step
// depends on, and the rows of metrics.csv; model.safetensors holds only the model, for Python and for
// commands that use it.

#include <cstdint>
#include <optional>
#include <string>

#include "core/parameters.h"
#include "models/run/run_folder.h"
#include "optim/optimizer.h"

namespace lamina {

/// What the next step depends on, besides parameters and optimizer.
struct Position {
  std::uint64_t step = 0;  ///< steps done
  double loss_sum = 0;     ///< over the steps after `reported`
  double seconds = 0;      ///< spent so far, over all sessions of the run
  std::optional<std::string> metrics =
      {};  ///< metrics.csv when saved; nothing in the state of an older version

  /// The step of the last row of metrics.csv, which tells it: not in the file.
  std::uint64_t reported = 0;
};

/// Replaces both files safely (core/files/file.h).
void save_state(const RunFolder& folder, const Parameters& parameters, const Optimizer& optimizer,
                const Position& position);

/// Reads `state` where there is one; a run without it is at its beginning. A missing model.safetensors is written
/// again. DataError with the file and the reason when one of the two does not fit the model, is damaged or holds
/// numbers that are not finite, or when the state is of a step after `last_step` and no longer run ended there; the
/// parameters are then undefined, and no file has been changed.
Position load_state(const RunFolder& folder, Parameters& parameters, Optimizer& optimizer,
                    std::uint64_t last_step);

/// The first part of the state that is not finite: the name of a parameter, or of a part of the optimizer's
/// state. Empty when all are finite.
std::string non_finite_part(const Parameters& parameters, const Optimizer& optimizer);

}  // namespace lamina
