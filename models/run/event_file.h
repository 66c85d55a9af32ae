#pragma once
// The scalars of a run as TensorBoard reads them: `tensorboard --logdir runs`.
//
// An event file is a sequence of records, each framed as TFRecord: the length of its data in eight bytes, a checksum of
// those, the data, a checksum of the data. The data are a protobuf message Event: a time, a step, and values with names.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/run/metrics.h"

namespace lamina {

/// The name that TensorBoard looks for: it has to contain "tfevents".
inline constexpr const char* event_file_name = "events.out.tfevents.lamina";

/// CRC-32C (Castagnoli), as in RFC 3720, B.4.
std::uint32_t crc32c(std::string_view bytes);

/// One record: the data between length and checksums.
std::string framed(std::string_view data);

class EventFile {
 public:
  /// Starts the file with all rows that the run has so far, replacing what was there: a resumed run has no step twice.
  /// Rows have the columns "step" and "seconds"; `began` is the time, in seconds since 1970, from which these count.
  EventFile(std::string path, const Table& so_far, double began);

  /// Adds a row: every column but "step" becomes a scalar of that step. DataError when the disk is full.
  void append(const std::vector<std::pair<std::string, double>>& row) const;

 private:
  std::string path_;
  double began_;
};

}  // namespace lamina
