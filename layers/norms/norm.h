#pragma once
// The normalization schemes that a model can be built with.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace lamina {

enum class Norm {
  none,
  batch,
  layer,
  weight,
  rms,             ///< layer norm without re-centering
  group,           ///< layer norm of groups of units or channels
  instance,        ///< of each channel of each case
  layer_interior,  ///< layer norm that leaves the border of feature maps out of its statistics
  layer_simple,    ///< layer norm without gain and bias
  detached,        ///< the same with mu and sigma constant in the backward pass
  ada,             ///< the same with its gain a function of what it normalizes
  dyt,             ///< tanh in layer norm's place
  ghost,           ///< batch norm of parts of the batch
  renorm,          ///< batch norm corrected towards its running averages
  standardized     ///< weights of mean 0 and variance 1 / fan-in
};

/// The names of a scheme in commands, figures and benchmarks, and what it can normalize.
struct NormEntry {
  Norm norm;
  const char* name;        ///< on the command line and in files: "layer-interior"
  const char* title;       ///< in figures and tables: "layer norm, interior"
  const char* short_name;  ///< in benchmarks: "ln"; empty where no benchmark has it
  int color;               ///< in figures: a number in their palette
  /// Whether it adds a bias itself. For batch norm, its variants and instance norm that makes a bias in the layer
  /// before it useless; for the others all but that bias's mean has an effect (see layers/linear.h), and a layer
  /// without it computes Eq. 5.
  bool bias;
  bool vectors, maps;  ///< what it is for: the summed inputs of a layer, feature maps
  bool weights;        ///< whether it normalizes the weights that make these, and not their values
};

/// In the order of legends: the baseline first, layer norm last.
inline constexpr NormEntry norm_table[] = {
    {Norm::none, "none", "baseline", "none", 6, false, true, true, false},
    {Norm::weight, "weight", "weight norm", "wn", 2, false, true, false, true},
    {Norm::standardized, "weight-standardized", "weight standardization", "", 14, false, true, true, true},
    {Norm::batch, "batch", "batch norm", "bn", 1, true, true, true, false},
    {Norm::ghost, "ghost-batch", "ghost batch norm", "", 12, true, true, true, false},
    {Norm::renorm, "batch-renorm", "batch renorm", "", 13, true, true, true, false},
    {Norm::rms, "rms", "rms norm", "", 7, false, true, false, false},
    {Norm::dyt, "dyt", "DyT", "", 11, true, true, false, false},
    {Norm::ada, "ada", "ada norm", "", 10, false, true, false, false},
    {Norm::detached, "detached", "layer norm, detached", "", 9, false, true, false, false},
    {Norm::layer_simple, "layer-simple", "layer norm, simple", "", 8, false, true, false, false},
    {Norm::instance, "instance", "instance norm", "", 4, true, false, true, false},
    {Norm::group, "group", "group norm", "", 3, true, true, true, false},
    {Norm::layer_interior, "layer-interior", "layer norm, interior", "", 5, true, true, true, false},
    {Norm::layer, "layer", "layer norm", "ln", 0, true, true, true, false},
};

/// Throws Error where norm_table has no row of it.
const NormEntry& entry_of(Norm norm);
inline const char* name_of(Norm norm) { return entry_of(norm).name; }

/// The scheme where it normalizes weights, else none: what layers with weights take as `weights`.
Norm weights_of(Norm norm);

/// The scheme of this name or short name.
std::optional<Norm> norm_named(std::string_view name);

/// Throws Error, "`who`: norm is batch; choose none or layer", where `norm` is not among the choices.
void require_norm(const std::string& who, Norm norm, std::initializer_list<Norm> choices);

}  // namespace lamina
