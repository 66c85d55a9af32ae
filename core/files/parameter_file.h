#pragma once
// Saving and loading what a model has learned, as safetensors. core/PYTORCH.md shows both directions, to and
// from PyTorch.
//
//   save(parameters, "model.safetensors", {{"epoch", "12"}});
//   load(parameters, "model.safetensors");
//   load(parameters, "pretrained.safetensors", {.strict = false, .rename = {{"bert.encoder", "encoder"}}});

#include <map>
#include <string>
#include <vector>

#include "core/files/checkpoint.h"
#include "core/parameters.h"

namespace lamina {

/// Learned parameters, frozen ones too, and state, such as running averages, in the order in which they were added.
/// The tensors share their values with the parameters.
Checkpoint checkpoint_of(const Parameters& parameters);

/// Writes them to a file, with `metadata` beside them. The file is replaced safely (core/files/file.h): after a crash it is
/// either the old one or the new one. DataError when it cannot be written.
void save(const Parameters& parameters, const std::string& path,
          const std::map<std::string, std::string>& metadata = {});

struct LoadOptions {
  /// Every parameter must be in the file and everything in the file must be a parameter. Otherwise the names
  /// found on both sides are loaded and the rest is reported; shapes must agree either way.
  bool strict = true;
  /// From names in the file to names in the model. Prefixes up to a dot can be mapped too: {"fc1", "hidden"}
  /// makes "hidden.weight" of "fc1.weight", and {"", "encoder"} puts "encoder." in front of all. The longest
  /// match counts. Each must match a name.
  std::map<std::string, std::string> rename = {};
};

/// The result of a load.
struct Loaded {
  std::vector<std::string> missing;     ///< parameters that the file does not have; they keep their values
  std::vector<std::string> unexpected;  ///< tensors of the file, renamed, that are no parameters
  std::map<std::string, std::string> metadata;
};

/// Reads the values of parameters and state from such a file, by their names. Tensors of integers in it are
/// skipped: PyTorch's batch norms have one each. DataError for a file that is damaged or does not fit, naming
/// all that does not; the parameters are then unchanged. Throws Error when a moving average is swapped in.
Loaded load(Parameters& parameters, const std::string& path, const LoadOptions& options = {});

}  // namespace lamina
