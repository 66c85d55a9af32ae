#pragma once
// metrics.csv: what a run measured, one row a report. A spreadsheet, gnuplot and Python read it while it
// grows.
//
// Numbers are written with as many digits as it takes to read the same double back; what is not known is
// `nan`.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lamina {

/// The shortest text that reads back as the same double; "nan" for what is not known.
std::string number_text(double value);
/// The double (of which "nan" and "inf" are some) or std::int64_t that all of a text is; nothing when it is none or does
/// not fit.
template <class Number = double>
std::optional<Number> number_from(std::string_view text);

/// "none,layer", and its words, empty ones too. Where there is no comma there is one word.
std::string joined(const std::vector<std::string>& words);
std::vector<std::string> split(std::string_view list);

/// The fields of a line of a CSV file, also of one that a spreadsheet saved.
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
  /// Starts the file with a header of these columns, replacing what was there.
  MetricsFile(std::string path, std::vector<std::string> columns);

  /// Goes on with a file whose column "step" counts training steps: later rows than `last_step` go, so that
  /// what an interrupted run had measured after its last checkpoint is not in the file twice. A missing file
  /// is started. DataError when the file has other columns.
  static MetricsFile resume(const std::string& path, std::vector<std::string> columns, double last_step);

  /// Goes on with `content`, which is all that the file held when its run was saved: rows that are missing or
  /// damaged are there again, and later rows go. Says so in one line when there were any of the former.
  /// DataError when the file cannot be written, or the content is of other columns.
  static MetricsFile restore(const std::string& path, std::vector<std::string> columns, std::string content);

  /// Appends one row and hands it to the system. Columns that are not named are `nan`.
  /// Error when a name is not a column; DataError when the disk is full.
  ///
  ///   metrics.append({{"epoch", 3}, {"step", 1290}, {"train_nll", 0.071}});
  void append(const std::vector<std::pair<std::string_view, double>>& row);

  /// Returns once all rows are on the disk.
  void sync() const;

  const std::string& path() const { return path_; }

  /// All that the file holds.
  const std::string& content() const { return content_; }

 private:
  /// Replaces the file.
  MetricsFile(std::string path, std::vector<std::string> columns, std::string content);

  std::string path_;
  std::vector<std::string> columns_;
  std::string content_;
};

}  // namespace lamina
