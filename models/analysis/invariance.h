#pragma once
// Table 1, measured: which transformations of weights and data leave the output of a normalized layer
// unchanged?
//
// A random layer and random data are transformed, and the change of the output is compared with its size.
// That number alone decides whether a scheme is invariant. Compile in double: an output that is invariant in
// exact arithmetic then changes by rounding errors only, some 1e-13, and one that is not changes by much more
// than the threshold.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/real.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/norm.h"
#include "models/analysis/normalized_layer.h"

namespace lamina::analysis {

/// The six columns of Table 1. Re-centering of the weight matrix is W' = W + gamma 1^T (every weight vector
/// moves by the same gamma), of the data set x' = x + gamma.
enum class Transformation {
  matrix_rescaling,
  matrix_recentering,
  vector_rescaling,
  data_rescaling,
  data_recentering,
  case_rescaling
};

inline constexpr Transformation transformations[] = {
    Transformation::matrix_rescaling, Transformation::matrix_recentering, Transformation::vector_rescaling,
    Transformation::data_rescaling,   Transformation::data_recentering,   Transformation::case_rescaling};

/// The paper's rows, then ours: all other schemes of norm_table but layer_interior, which is about images' borders.
const std::vector<Norm>& table_schemes();

const char* name_of(Transformation transformation);

/// The verdict of Table 1; nothing for schemes that are not in it.
std::optional<bool> paper_says(Norm norm, Transformation transformation);

/// A scheme counts as invariant when the relative change of its output is below this.
inline constexpr double invariance_threshold = 1e-9;

/// The default epsilon of layers; of weight standardization alone it is 1e-10, and weight norm and DyT have none.
inline double default_epsilon() { return static_cast<double>(LayerNormOptions{}.epsilon); }

struct InvarianceOptions {
  size_t cases = 10, inputs = 12, units = 16;
  size_t side = 4;    ///< instance norm sees maps of side x side positions, the others vectors
  size_t draws = 50;  ///< random layers and data for each magnitude
  /// The factor delta, or the standard deviation of the vector gamma.
  std::vector<double> magnitudes = {0.01, 0.1, 0.5, 2, 10, 100};
  std::uint64_t seed = 1;
};

/// The largest change over all draws: max |y' - y| / max |y|.
struct InvarianceResult {
  Norm norm;
  Transformation transformation;
  double magnitude;
  double epsilon;
  double change;
};

/// A layer's output from its data [cases x inputs] and its values.
using LayerFunction = std::function<Tensor(const Tensor& x, const LayerValues& layer)>;

/// The largest change of any layer over the draws, where NaN counts as the largest.
double change_under(const LayerFunction& layer, Transformation transformation, double magnitude,
                    const InvarianceOptions& options);

/// Every scheme, transformation and magnitude, at epsilon = 0 and at the layers' default. Throws Error for
/// units that unit_groups does not divide.
std::vector<InvarianceResult> measure_invariance(const InvarianceOptions& options);

/// The largest change over all magnitudes.
double largest_change(const std::vector<InvarianceResult>& results, Norm norm, Transformation transformation,
                      double epsilon);

/// Table 1 as markdown, each verdict with its number; those that differ from the paper's are marked.
std::string invariance_table(const std::vector<InvarianceResult>& results, double epsilon);

/// The verdicts at epsilon = 0 that differ from the paper's, one per line; empty when there is none.
std::string disagreements(const std::vector<InvarianceResult>& results);

/// scheme,transformation,magnitude,epsilon,change
std::string to_csv(const std::vector<InvarianceResult>& results);

}  // namespace lamina::analysis
