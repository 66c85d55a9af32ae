#pragma once
// record.csv: the numbers recorded inside a run by --record every=N, one per line.
//
//   step,layer,quantity,time,value
//   1,hidden1,weight.length.mean,,1.414
//   1,hidden1,summed_inputs.mean,1,-0.0213
//
// `step` counts training steps from 1. `time` is empty for quantities that a layer has once per step (of its
// parameters); else it counts the layer's uses within the step: 1, or the time steps of a recurrent layer.

#include <cstdint>
#include <string>
#include <vector>

namespace lamina {

struct RecordRow {
  std::uint64_t step = 0;
  std::string layer, quantity;
  std::uint64_t time = 0;  ///< 0: none
  double value = 0;
  bool operator==(const RecordRow&) const = default;
};

/// Reads a record, also one that is being written: a last line without its end is left out. DataError when
/// it cannot be read or holds a broken line, with the line's number.
std::vector<RecordRow> read_record(const std::string& path);

/// The record of a run in progress.
class RecordFile {
 public:
  /// Continues a file after `last_step` steps: later rows are removed, since the run will record them again.
  /// A missing file is created. Prints one line when recorded steps (the first and every `every`-th after it)
  /// are missing.
  RecordFile(std::string path, std::uint64_t last_step, std::uint64_t every);

  /// Appends rows and hands them to the system. DataError when the disk is full.
  void append(const std::vector<RecordRow>& rows);

  /// Returns once all rows are on the disk.
  void sync() const;

 private:
  std::string path_;
};

}  // namespace lamina
