#pragma once

namespace lamina {

/// The normalization schemes that a model can be built with. `layer_interior` is layer norm that leaves the
/// border of feature maps out of its statistics.
enum class Norm { none, batch, layer, weight, rms, group, instance, layer_interior };

/// As on the command line: "none", "batch", ..., "layer-interior"
const char* name_of(Norm norm);

}  // namespace lamina
