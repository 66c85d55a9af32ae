#pragma once
// The statistics by which batch norm inside and beside recurrence normalizes when a model is used: averages of those of
// the batches, of their own for each of the first T_max steps (Cooijmans et al. 2016).

#include <string>

#include "core/parameters.h"
#include "layers/mode.h"

namespace lamina {

struct Population {
  Tensor mean, variance;  ///< [T_max x width]
  Tensor cases;           ///< [T_max]: how many cases they were measured on; 0: not reached yet
  real momentum = real(0.1);

  /// A batch's statistics of some columns, by pointers to those of all.
  struct Batch {
    real cases;
    const real *mean, *variance;
    size_t begin, end;
  };
  /// Averages a batch's statistics of step t in, in the modes that change the population. `before` holds `cases` as the
  /// batch found them, which the columns from 0 on update.
  void enter(size_t t, Mode mode, const Tensor& before, const Batch& batch) const;

  /// From here on the next batch's statistics take the place of these.
  void forget() const;
};

/// The state `name`.mean (starts at 0), `name`.variance (1) and `name`.cases (0).
Population make_population(Parameters& parameters, const std::string& name, size_t max_steps, size_t width);

}  // namespace lamina
