#pragma once
// Checkpoints in the safetensors format, which Python and most other tools read.
//
//   8 bytes     length of the header, little endian
//   header      JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//                      "__metadata__": {"key": "text", ...}}
//   the values, one tensor after another, little endian

#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace lamina {

struct Checkpoint {
  struct Entry {
    std::string name;
    Tensor value;
  };
  std::vector<Entry> tensors;
  std::map<std::string, std::string> metadata;

  /// The tensor of this name, or nullptr. Those that load_checkpoint() gives are sorted by name, and are found at once.
  const Tensor* find(const std::string& name) const;
};

/// Replaces `path` safely (see core/files/file.h). Names must be unique, and names and metadata UTF-8, else Error.
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// What to do about tensors of integers and booleans, which `real` does not represent: each batch norm of
/// PyTorch keeps one, num_batches_tracked.
enum class OtherTypes { refuse, skip };

/// Reads tensors of up to four dimensions, of floating-point numbers of any width (F64, F32, F16, BF16,
/// F8_E5M2, F8_E4M3), into `real`. DataError naming the file and the remedy when it is missing, truncated, of
/// another format or inconsistent, holds a number too large for `real`, has a tensor of an unknown type, or, unless `others`
/// is skip, one of integers or booleans.
Checkpoint load_checkpoint(const std::string& path, OtherTypes others = OtherTypes::refuse);

}  // namespace lamina
