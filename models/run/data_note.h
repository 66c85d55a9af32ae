#pragma once
// data.txt of a run's folder: what --data meant and what was in it when the run began. A --data that is not absolute means
// another folder elsewhere, and the files in a folder can change.

#include <string>

namespace lamina {

struct DataNote {
  std::string folder = {};  ///< that of --data, as an absolute path: the first line
  std::string digest = {};  ///< tells the files in it from others: the second line
};

/// Of the run in this folder; empty where there is none, as of built-in data.
DataNote data_note_of(const std::string& run_folder);
void write_data_note(const std::string& run_folder, const DataNote& note);

}  // namespace lamina
