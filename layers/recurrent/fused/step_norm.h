#pragma once
// Normalization inside a recurrent layer: the statistics of one quantity [T x B x width] at every step.
//
//   layer   per case and step, over each segment of the width (an LSTM's 4H gates are one segment, a GRU's
//           are 2H and H); one gain and one bias shared over all steps
//   batch   per unit and step, over the cases that are not padded (Cooijmans et al. 2016), with population
//           statistics for each of the first T_max steps; later steps and steps that no batch has reached use
//           those of the last step before them that was reached
//
// Layer norm works on a row alone. Batch norm needs all rows of a step, so it works column by column, and the
// caller puts a barrier before and after.

#include <array>
#include <cstddef>
#include <string>

#include "layers/norms/norm.h"
#include "layers/recurrent/fused/thread_schedule.h"
#include "layers/statistics/column_norm.h"
#include "layers/statistics/population.h"

namespace lamina {

/// The parameters and population statistics of a normalization, for the lifetime of a layer.
struct StepNormParameters {
  Norm norm = Norm::none;            ///< none, layer or batch
  std::array<size_t, 2> segments{};  ///< widths; the second may be 0
  Tensor gain = {}, bias = {};       ///< [width]; the bias may be empty under batch norm
  Population population = {};        ///< for batch norm
  real epsilon = real(1e-5);

  size_t width() const { return segments[0] + segments[1]; }
};

struct StepNormOptions {
  Norm norm = Norm::none;
  std::array<size_t, 2> segments{};
  real gain = 1;
  bool bias = true;
  size_t max_steps = 1;  ///< T_max
};

/// Adds `name`.gain, `name`.bias and the population statistics to the parameters; nothing for Norm::none. Throws Error
/// for a norm that StepNorm does not compute.
StepNormParameters make_step_norm(Parameters& parameters, const std::string& name,
                                  const StepNormOptions& options);

/// The statistics of one pass through a sequence. Copies share them. `mask` is [rows] of the current step, 0
/// for a padded case, or nullptr.
class StepNorm {
 public:
  StepNorm() = default;
  StepNorm(const StepNormParameters& parameters, size_t steps, size_t rows, Mode mode);

  bool active() const { return parameters_.norm != Norm::none; }
  /// Whether a row can be normalized without knowing the others.
  bool by_rows() const { return parameters_.norm != Norm::batch || fixed_; }
  size_t width() const { return parameters_.width(); }

  /// Batch norm: looks again at how many cases the population has seen of step t, which another pass may have changed.
  void open(size_t t);
  /// Layer norm: the statistics of one row [width] of step t.
  void measure_row(size_t t, size_t row, const real* raw);
  /// Batch norm: those of the columns [begin, end) of step t, raw [rows x width], which enter the
  /// population's in the modes that change these. Where ranks synchronize them, they are those of the own cases, until
  /// all threads have called merge_ranks().
  void measure_columns(size_t t, size_t begin, size_t end, const real* raw, const real* mask);
  /// Where ranks synchronize, they must have equally many steps: one thread exchanges what all of them have measured.
  void merge_ranks(size_t t, const Share& share, const real* mask);
  /// out = gain (raw - mean) / deviation + bias, for one row.
  void normalize_row(size_t t, size_t row, const real* raw, real* out) const;

  /// Computes dL/d(raw) from dL/d(normalized) for one row, possibly in place; adds to the gradients of gain and bias,
  /// `sums` [2 x width].
  void backward_row(size_t t, size_t row, const real* raw, const real* dnormalized, real* draw,
                    real* sums) const;
  /// The same in place for the share's columns of all rows under batch norm; rows that are padded must hold zeros. All
  /// threads call it: where ranks synchronize, one exchanges their sums.
  void backward_columns(size_t t, const Share& share, const real* raw, real* d, const real* mask, real* sums);

  /// Adds these sums of each of `threads` threads, at multiples of `stride`, to the gradients of gain and bias.
  void contribute(const real* sums, size_t threads, size_t stride) const;

 private:
  void take_population(size_t steps);
  column_norm::Cases cases_of(const real* raw, const real* mask) const {
    return {.rows = rows_, .width = width(), .values = raw, .mask = mask};
  }
  void settle(size_t t, size_t begin, size_t end, real count);
  /// Batch norm: the means of step t [width]; the inverse deviations follow them.
  real* means(size_t t) { return statistics_.data() + 2 * t * width(); }
  const real* means(size_t t) const { return statistics_.data() + 2 * t * width(); }

  StepNormParameters parameters_;
  Mode mode_ = Mode::train;
  bool fixed_ = false;  ///< batch norm with population statistics
  bool synchronized_ = false;
  Tensor all_cases_;  ///< where synchronized: of all ranks, [T]
  Tensor sums_;  ///< where synchronized: of dL/d(normalized), and of it times the normalized, [2 x width]
  size_t rows_ = 0;
  Tensor cases_before_;  ///< the population's before a step, for threads that enter parts of it
  Tensor statistics_;  ///< layer: [T x rows x 2 segments x (mean, inverse deviation)]; batch: [T x 2 x width]
};

}  // namespace lamina
