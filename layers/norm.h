#pragma once

namespace lamina {

/// The normalization schemes that a model can be built with.
enum class Norm { none, batch, layer, weight, rms };

/// As on the command line: "none", "batch", ...
const char* name_of(Norm norm);

}  // namespace lamina
