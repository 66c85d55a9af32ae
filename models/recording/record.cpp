#include "models/recording/record.h"

#include <array>
#include <iostream>
#include <set>
#include <string_view>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/run/metrics.h"

namespace lamina {

namespace {

constexpr std::string_view header = "step,layer,quantity,time,value\n";

std::string csv(const std::vector<RecordRow>& rows) {
  std::string lines;
  for (const RecordRow& row : rows)
    lines += std::to_string(row.step) + ',' + row.layer + ',' + row.quantity + ',' +
             (row.time > 0 ? std::to_string(row.time) : "") + ',' + number_text(row.value) + '\n';
  return lines;
}

/// Whether a line is a row.
bool parse_row(std::string_view line, RecordRow& row) {
  if (line.ends_with('\r')) line.remove_suffix(1);  // saved by a spreadsheet
  std::array<std::string_view, 5> fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    const size_t comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == fields.size())) return false;
    fields[i] = unquoted(line.substr(0, comma));
    line.remove_prefix(i + 1 == fields.size() ? 0 : comma + 1);
  }
  const auto step = number_from<std::uint64_t>(fields[0]), time = number_from<std::uint64_t>(fields[3]);
  const auto value = number_from(fields[4]);
  if (!step || (!time && !fields[3].empty()) || !value) return false;
  row = {*step, std::string(fields[1]), std::string(fields[2]), time.value_or(0), *value};
  return true;
}

/// The rows of all whole lines, after which `rest` begins; DataError for one that is none, by the file's name.
std::vector<RecordRow> take_rows(const std::string& path, std::string_view& rest) {
  std::vector<RecordRow> rows;
  for (size_t line_number = 1;; ++line_number) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return rows;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line_number == 1) continue;
    if (!parse_row(line, rows.emplace_back()))
      fail<DataError>(path, ": line ", line_number,
                      " is not step,layer,quantity,time,value; remove the line");
  }
}

/// A row without its line end, up to the checkpoint: an editor left it out, or the file was cut. After it a kill has done that.
void report_cut_row(const std::string& path, std::string_view cut, std::uint64_t last_step) {
  const auto step = number_from<std::uint64_t>(fields_of(cut).front());
  if (step && *step <= last_step)
    std::cerr << path << ": its last row has no line end, so it may be cut off; the run goes on without it\n";
}

}  // namespace

std::vector<RecordRow> read_record(const std::string& path) {
  const std::string bytes = read_file(path);
  std::string_view rest = bytes;
  return take_rows(path, rest);
}

RecordFile::RecordFile(std::string path, std::uint64_t last_step, std::uint64_t every)
    : path_(std::move(path)) {
  std::vector<RecordRow> kept;
  if (exists(path_)) {
    const std::string bytes = read_file(path_);
    std::string_view rest = bytes;
    kept = take_rows(path_, rest);
    report_cut_row(path_, rest, last_step);
  }
  std::erase_if(kept, [last_step](const RecordRow& row) { return row.step > last_step; });
  std::set<std::uint64_t> steps;
  for (const RecordRow& row : kept) steps.insert(row.step);
  const std::uint64_t expected = (last_step + every - 1) / every;
  if (steps.size() < expected)
    std::cerr << path_ << ": lacks " << expected - steps.size() << " of the " << expected
              << " steps that were recorded; the run goes on without them\n";
  write_file(path_, std::string(header) + csv(kept));
}

// Opened each time, which is rare: nothing stays buffered.
void RecordFile::append(const std::vector<RecordRow>& rows) { append_to_file(path_, csv(rows)); }

void RecordFile::sync() const { sync_file(path_); }

}  // namespace lamina
