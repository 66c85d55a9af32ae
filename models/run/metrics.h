#pragma once
// metrics.csv: the measurements of a run, one row per report. A spreadsheet, gnuplot and Python can read it
// while it grows.
//
// Numbers are written with as many digits as needed to read the same double back; unknown values are `nan`.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files/number.h"

namespace lamina {

/// The shortest text that reads back as the same double; "nan" for an unknown value.
std::string number_text(double value);
/// A number as printf writes it in the C locale, whatever the program's is; a NaN has no sign.
std::string formatted(const char* format, double value);

/// "none,layer", and its words, empty ones too, also in front. Where there is no comma there is one word.
std::string joined(const std::vector<std::string>& words);
/// "none, layer": what `word` makes of each item, with `between` between them.
template <class Items, class Word>
std::string joined(const Items& items, const Word& word, std::string_view between = ", ") {
  std::string list;
  for (const auto& item : items) {
    if (!list.empty()) list += between;
    list += std::invoke(word, item);
  }
  return list;
}
std::vector<std::string> split(std::string_view list);

/// A field without the quotes that other programs may have put around it.
std::string_view unquoted(std::string_view field);

/// The fields of a line of a CSV file, also of one that another program saved: with CR LF, a byte order mark in front, or
/// quotes around fields, of which none has a comma.
std::vector<std::string> fields_of(std::string_view line);

/// A metrics file in memory.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;  // each as long as `columns`

  /// One column from top to bottom. DataError when the table has no such column.
  std::vector<double> column(std::string_view name) const;
};

/// Reads a metrics file, also one that is being written: a last line without its end is left out.
/// DataError when it cannot be read or holds a broken line, with the line's number.
Table read_table(const std::string& path);

/// The same for the content of such a file; `path` is for errors.
Table table_of(const std::string& path, std::string_view content);

class MetricsFile {
 public:
  /// Starts the file with a header of these columns, replacing what was there. Throws Error for a name that stands there
  /// twice, or with a comma or the end of a line in it.
  MetricsFile(std::string path, std::vector<std::string> columns);

  /// Continues a file whose column "step" counts training steps: rows after `last_step` are removed, so that
  /// measurements of an interrupted run after its last checkpoint are not in the file twice. A missing file
  /// is created. DataError when the file has other columns.
  static MetricsFile resume(const std::string& path, std::vector<std::string> columns, double last_step);

  /// Continues with `content`, the whole file when its run was saved: rows that are missing or damaged are
  /// restored, and later rows are removed. Prints one line when rows were restored. DataError when the file
  /// cannot be written, or the content is of other columns.
  static MetricsFile restore(const std::string& path, std::vector<std::string> columns, std::string content);

  /// Appends one row and hands it to the system. Columns that are not given become `nan`.
  /// Error when a name is not a column; DataError when the disk is full.
  ///
  ///   metrics.append({{"epoch", 3}, {"step", 1290}, {"train_nll", 0.071}});
  void append(const std::vector<std::pair<std::string, double>>& row);

  /// Returns once all rows are on the disk.
  void sync() const;

  const std::string& path() const { return path_; }

  /// Column "step" of the last row; 0 before the first.
  double last_step() const;

  /// The whole content of the file.
  const std::string& content() const { return content_; }

 private:
  /// Replaces the file.
  MetricsFile(std::string path, std::vector<std::string> columns, std::string content);

  std::string path_;
  std::vector<std::string> columns_;
  std::string content_;
};

}  // namespace lamina
