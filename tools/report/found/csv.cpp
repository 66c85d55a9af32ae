#include "tools/report/found/csv.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "models/run/metrics.h"

namespace lamina {

std::optional<size_t> Csv::find(std::string_view column) const {
  const auto place = std::ranges::find(columns, column);
  if (place == columns.end()) return {};
  return static_cast<size_t>(place - columns.begin());
}

Csv parse_csv(std::string_view bytes) {
  Csv csv;
  for (size_t number = 1;; ++number) {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) break;
    std::vector<std::string> fields = fields_of(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    if (number == 1) {
      csv.columns = std::move(fields);
    } else if (fields.size() == csv.columns.size()) {
      csv.rows.push_back(std::move(fields));
    } else {
      csv.problem = text("is broken in line ", number, ", and what follows is not shown");
      return csv;
    }
  }
  if (csv.columns.empty())
    csv.problem = "has no header line yet";
  else if (csv.rows.empty())
    csv.problem = "has no rows yet";
  return csv;
}

double number_in(const std::string& field) {
  return number_from(field).value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace lamina
