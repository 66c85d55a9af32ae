#pragma once
// The statistics with which batch norm inside and outside of recurrence normalizes in evaluation: averages of
// those of the batches, separate for each of the first T_max steps (Cooijmans et al. 2016).

#include <string>

#include "core/parameters.h"
#include "layers/mode.h"

namespace lamina {

struct Population {
  Tensor mean, variance;  ///< [T_max x width]
  Tensor cases;           ///< [T_max]: the number of cases they were measured on; 0: not reached yet
  real momentum = real(0.1);

  /// A batch's statistics of the columns [begin, end); the pointers are to those of all columns.
  struct Batch {
    real cases;
    const real *mean, *variance;
    size_t begin, end;
  };
  /// Averages a batch's statistics of step t into the population, in the modes that change it. `before` holds
  /// `cases` from before this batch; the call for the columns from 0 on updates `cases`.
  void enter(size_t t, Mode mode, const Tensor& before, const Batch& batch) const;

  /// The next batch's statistics will replace these.
  void forget() const;
  /// Of ranks that divide work, each of which has measured batches of its own since forget(): as if one had measured all.
  void merge_ranks() const;
};

/// The state `name`.mean (starts at 0), `name`.variance (1) and `name`.cases (0).
Population make_population(Parameters& parameters, const std::string& name, size_t max_steps, size_t width);

}  // namespace lamina
