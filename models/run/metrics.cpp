#include "models/run/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/text/utf8.h"

namespace lamina {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::string row_text(const std::vector<double>& row) {
  std::string line;
  for (const double value : row) line += (line.empty() ? "" : ",") + number_text(value);
  return line + '\n';
}

std::vector<double> numbers(std::string_view line, const std::string& path, size_t line_number) {
  std::vector<double> row;
  for (const std::string& field : fields_of(line)) {
    const auto value = number_from<double>(field);
    if (!value)
      fail<DataError>(path, ": line ", line_number, ": '", field, "' is not a number; remove the line");
    row.push_back(*value);
  }
  return row;
}

void require_columns(const std::string& path, const Table& table, const std::vector<std::string>& columns) {
  if (table.columns != columns)
    fail<DataError>(path, ": has the columns ", joined(table.columns), ", and this version writes ",
                    joined(columns),
                    "; go on with the version that began it, or start a new run in another folder");
}

const std::vector<std::string>& checked(const std::string& path, const std::vector<std::string>& columns) {
  for (const std::string& name : columns)
    if (std::ranges::count(columns, name) > 1 || name.find_first_of(",\r\n") != std::string::npos)
      fail("metrics: '", name, "' cannot name a column of ", path,
           "; take a name that no other one has, without commas and on one line");
  return columns;
}

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";  // otherwise the sign of a NaN would be printed
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::string formatted(const char* format, double value) {
  static const locale_t classic = newlocale(LC_ALL_MASK, "C", nullptr);
  const locale_t of_program = uselocale(classic);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, std::isnan(value) ? std::fabs(value) : value);
  uselocale(of_program);
  return buffer;
}

std::string joined(const std::vector<std::string>& words) {
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) list += (i == 0 ? "" : ",") + words[i];
  return list;
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> words;
  while (true) {
    const size_t comma = list.find(',');
    words.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    list.remove_prefix(comma + 1);
  }
}

std::string_view unquoted(std::string_view field) {
  const bool quoted = field.size() > 1 && field.front() == '"' && field.back() == '"';
  return quoted ? field.substr(1, field.size() - 2) : field;
}

std::vector<std::string> fields_of(std::string_view line) {
  line = without_byte_order_mark(line);
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> fields = split(line);
  for (std::string& field : fields) field = unquoted(field);
  return fields;
}

std::vector<double> Table::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) fail<DataError>("metrics: no column '", name, "'; there are ", joined(columns));
  const auto index = static_cast<size_t>(found - columns.begin());
  std::vector<double> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(row[index]);
  return values;
}

Table read_table(const std::string& path) { return table_of(path, read_file(path)); }

Table table_of(const std::string& path, std::string_view rest) {
  Table table;
  for (size_t line_number = 1;; ++line_number) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // the end of the file, or a line that is being written
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line_number == 1) {
      table.columns = fields_of(line);
      continue;
    }
    table.rows.push_back(numbers(line, path, line_number));
    if (table.rows.back().size() != table.columns.size())
      fail<DataError>(path, ": line ", line_number, " has ", table.rows.back().size(),
                      " fields and the header ", table.columns.size(), "; remove the line");
  }
  if (table.columns.empty()) fail<DataError>(path, ": has no header line; it is not a metrics file");
  return table;
}

MetricsFile::MetricsFile(std::string path, std::vector<std::string> columns, std::string content)
    : path_(std::move(path)), columns_(std::move(columns)), content_(std::move(content)) {
  write_file(path_, content_);
}

MetricsFile::MetricsFile(std::string path, std::vector<std::string> columns)
    : path_(std::move(path)),
      columns_(std::move(columns)),
      content_(joined(checked(path_, columns_)) + '\n') {
  write_file(path_, content_);
}

MetricsFile MetricsFile::resume(const std::string& path, std::vector<std::string> columns, double last_step) {
  // A run that was killed before its first report may have left an incomplete header.
  if (!exists(path) || read_file(path).find('\n') == std::string::npos) return {path, std::move(columns)};
  const Table before = read_table(path);
  require_columns(path, before, columns);
  const std::vector<double> steps = before.column("step");
  std::string kept = joined(columns) + '\n';
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] <= last_step) kept += row_text(before.rows[i]);
  return {path, std::move(columns), std::move(kept)};
}

MetricsFile MetricsFile::restore(const std::string& path, std::vector<std::string> columns,
                                 std::string content) {
  require_columns(path, table_of(path, content), columns);
  if (!exists(path) || !read_file(path).starts_with(content))
    std::cerr << path
              << ": was missing, damaged or changed; its rows are written again from the saved state\n";
  return {path, std::move(columns), std::move(content)};
}

void MetricsFile::append(const std::vector<std::pair<std::string, double>>& row) {
  std::vector<double> values(columns_.size(), unknown);
  for (const auto& [name, value] : row) {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end()) fail("metrics: '", name, "' is not a column of ", path_);
    values[static_cast<size_t>(found - columns_.begin())] = value;
  }
  // Opened for each row, which is rare: the file may be moved or read in between, and nothing stays buffered.
  const std::string line = row_text(values);
  append_to_file(path_, line);
  content_ += line;
}

double MetricsFile::last_step() const {
  const std::vector<double> steps = table_of(path_, content_).column("step");
  return steps.empty() ? 0 : steps.back();
}

void MetricsFile::sync() const { sync_file(path_); }

}  // namespace lamina
