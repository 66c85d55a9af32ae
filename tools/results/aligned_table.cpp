#include "tools/results/aligned_table.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

#include "models/text/utf8.h"
#include "tools/flags/wrapped_text.h"

namespace lamina {

namespace {

using Row = std::vector<std::string>;

constexpr size_t gap = 2;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The cells of "| a | b |".
Row cells_of(std::string_view line) {
  Row cells;
  line.remove_prefix(1);
  for (size_t end = line.find('|'); end != std::string_view::npos; end = line.find('|')) {
    cells.emplace_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end + 1);
  }
  return cells;
}

bool is_bold(std::string_view cell) {
  return cell.size() > 4 && cell.starts_with("**") && cell.ends_with("**");
}
std::string shown(const std::string& cell) { return is_bold(cell) ? cell.substr(2, cell.size() - 4) : cell; }

/// Widths that cut neither a cell nor a title's words.
std::vector<size_t> least_widths(const Row& titles, const std::vector<Row>& rows) {
  std::vector<size_t> least(titles.size());
  for (size_t i = 0; i < titles.size(); ++i) {
    for (const Row& row : rows) least[i] = std::max(least[i], characters_in(shown(row[i])));
    for (const std::string& word : wrapped(titles[i], 0)) least[i] = std::max(least[i], characters_in(word));
  }
  return least;
}

/// The columns in groups that fit. Each begins with the first column, which names the rows.
std::vector<std::vector<size_t>> groups_that_fit(const std::vector<size_t>& least, size_t room) {
  std::vector<std::vector<size_t>> groups{{0}};
  size_t width = least[0];
  for (size_t i = 1; i < least.size(); ++i) {
    if (width + gap + least[i] > room && groups.back().size() > 1) {
      groups.push_back({0});
      width = least[0];
    }
    groups.back().push_back(i);
    width += gap + least[i];
  }
  return groups;
}

Row columns_of(const Row& row, const std::vector<size_t>& columns) {
  Row some;
  for (const size_t i : columns) some.push_back(row[i]);
  return some;
}

/// The titles, and below them the rows.
class AlignedTable {
 public:
  AlignedTable(Row titles, std::vector<Row> rows, size_t room)
      : titles_(std::move(titles)), rows_(std::move(rows)), widths_(titles_.size()) {
    choose_widths(room);
  }

  std::string text() const {
    std::vector<Row> heads;
    size_t height = 0;
    for (size_t i = 0; i < titles_.size(); ++i) {
      heads.push_back(wrapped(titles_[i], widths_[i]));
      height = std::max(height, heads.back().size());
    }
    std::string all;
    for (size_t line = 0; line < height; ++line) {
      Row head;
      for (const Row& lines : heads) {  // titles end on the last line
        const size_t above = height - lines.size();
        head.push_back(line < above ? "" : lines[line - above]);
      }
      all += line_of(head);
    }
    Row rule;
    for (const size_t width : widths_) rule.emplace_back(width, '-');
    all += line_of(rule);
    for (const Row& row : rows_) all += line_of(row);
    return all;
  }

 private:
  bool is_numeric(size_t column) const {
    return column > 0 && std::ranges::all_of(rows_, [&](const Row& row) {
             const std::string cell = shown(row[column]);
             return cell.empty() || cell == "-" || cell == "never" || cell == "nan" ||
                    std::isdigit(static_cast<unsigned char>(cell[cell.front() == '-']));
           });
  }

  /// As wide as titles and cells; while that is too much, the widest title that its cells let is wrapped more narrowly.
  void choose_widths(size_t room) {
    const std::vector<size_t> least = least_widths(titles_, rows_);
    for (size_t i = 0; i < titles_.size(); ++i) {
      widths_[i] = std::max(least[i], characters_in(titles_[i]));
      numeric_.push_back(is_numeric(i));
    }
    const auto total = [&] {
      return std::accumulate(widths_.begin(), widths_.end(), gap * (widths_.size() - 1));
    };
    while (total() > room) {
      size_t widest = 0;
      for (size_t i = 1; i < widths_.size(); ++i)
        if (widths_[i] - least[i] > widths_[widest] - least[widest]) widest = i;
      if (widths_[widest] == least[widest]) break;
      --widths_[widest];
    }
  }

  std::string line_of(const Row& row) const {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string content = shown(row[i]), blank(widths_[i] - characters_in(content), ' ');
      const std::string cell = is_bold(row[i]) ? bold(content) : content;
      line += (i == 0 ? "" : std::string(gap, ' ')) + (numeric_[i] ? blank + cell : cell + blank);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
  }

  Row titles_;
  std::vector<Row> rows_;
  std::vector<size_t> widths_;
  std::vector<bool> numeric_;
};

/// One table, or where it is too wide several below each other.
std::string aligned(const Row& titles, const std::vector<Row>& rows, size_t room) {
  std::string all;
  for (const std::vector<size_t>& columns : groups_that_fit(least_widths(titles, rows), room)) {
    std::vector<Row> parts;
    parts.reserve(rows.size());
    for (const Row& row : rows) parts.push_back(columns_of(row, columns));
    all += (all.empty() ? "" : "\n") + AlignedTable(columns_of(titles, columns), parts, room).text();
  }
  return all;
}

}  // namespace

std::string aligned_tables(std::string_view markdown, int width) {
  std::vector<std::string_view> lines;
  while (!markdown.empty()) {
    const size_t end = std::min(markdown.find('\n'), markdown.size() - 1);
    lines.push_back(markdown.substr(0, end + 1));
    markdown.remove_prefix(end + 1);
  }
  const auto is_row = [&](size_t i) { return i < lines.size() && lines[i].starts_with('|'); };
  std::string all;
  for (size_t i = 0; i < lines.size();) {
    if (!is_row(i) || !is_row(i + 1) || !lines[i + 1].starts_with("|--")) {
      all += lines[i++];
      continue;
    }
    const Row titles = cells_of(lines[i]);
    std::vector<Row> rows;
    for (i += 2; is_row(i); ++i) {
      rows.push_back(cells_of(lines[i]));
      rows.back().resize(titles.size());
    }
    all += aligned(titles, rows, static_cast<size_t>(std::max(width, 1)));
  }
  return all;
}

}  // namespace lamina
