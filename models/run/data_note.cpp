#include "models/run/data_note.h"

#include <sstream>

#include "core/files/file.h"
#include "core/files/folder.h"

namespace lamina {

namespace {

std::string file_in(const std::string& run_folder) { return run_folder + "/data.txt"; }

}  // namespace

DataNote data_note_of(const std::string& run_folder) {
  DataNote note;
  if (!exists(file_in(run_folder))) return note;
  std::istringstream lines(read_file(file_in(run_folder)));
  std::getline(lines, note.folder);
  std::getline(lines, note.digest);
  return note;
}

void write_data_note(const std::string& run_folder, const DataNote& note) {
  write_file(file_in(run_folder), note.folder + '\n' + note.digest + '\n');
}

}  // namespace lamina
