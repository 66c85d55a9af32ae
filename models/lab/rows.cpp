#include "models/lab/rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/error.h"
#include "models/run/metrics.h"

namespace lamina::lab {

namespace {

const std::vector<std::string> header{"seed", "variant", "quantity", "x", "value"};

const std::string& field(const std::string& name) {
  if (name.empty() || name.find_first_of(",\r\n") != std::string::npos)
    fail("lab: '", name, "' cannot be a field of a CSV file; leave commas and line ends out");
  return name;
}

std::string rounded(double value) { return formatted("%.6g", value); }

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

Observation row_of(const std::string& path, size_t line_number, std::string_view line) {
  const std::vector<std::string> fields = fields_of(line);
  if (fields.size() != header.size())
    fail<DataError>(path, ": line ", line_number, " has ", fields.size(), " fields and not ", header.size(),
                    "; measure the lab again");
  const auto seed = number_from<std::int64_t>(fields[0]);
  const auto x = number_from<double>(fields[3]), value = number_from<double>(fields[4]);
  if (!seed || !x || !value || !std::isfinite(*x))
    fail<DataError>(path, ": line ", line_number, ": a number is missing; measure the lab again");
  return {*seed, fields[1], fields[2], *x, *value};
}

double reduced(const Points& points, const LabNumber& number) {
  std::vector<double> values;
  for (const auto& [x, value] : points) values.push_back(value);
  switch (number.over) {
    case LabNumber::last:
      return values.back();
    case LabNumber::at_x:  // whose points are that one
    case LabNumber::first:
      return values.front();
    case LabNumber::lowest:
      std::erase_if(values, [](double value) { return !std::isfinite(value); });
      return values.empty() ? std::nan("") : std::ranges::min(values);
    case LabNumber::highest:
      return std::ranges::all_of(values, [](double value) { return std::isfinite(value); })
                 ? std::ranges::max(values)
                 : std::nan("");
    case LabNumber::mean: {
      double sum = 0;
      for (const double value : values) sum += value;
      return sum / static_cast<double>(values.size());
    }
  }
  return std::nan("");
}

}  // namespace

std::string to_csv(const Rows& rows) {
  std::string all = joined(header) + '\n';
  for (const Observation& row : rows)
    all += text(row.seed, ',', field(row.variant), ',', field(row.quantity), ',', rounded(row.x), ',',
                rounded(row.value), '\n');
  return all;
}

Rows rows_of(const std::string& path, std::string_view content) {
  Rows rows;
  for (size_t line_number = 1; !content.empty(); ++line_number) {
    const size_t end = content.find('\n');
    if (end == content.npos)
      fail<DataError>(path, ": line ", line_number,
                      " has no end, so that its number may be cut off; measure the lab again");
    const std::string_view line = content.substr(0, end);
    content.remove_prefix(end + 1);
    if (line_number > 1)
      rows.push_back(row_of(path, line_number, line));
    else if (fields_of(line) != header)
      fail<DataError>(path, ": begins with another line than '", joined(header),
                      "'; name a file that lamina lab wrote");
  }
  if (rows.empty()) fail<DataError>(path, ": holds no rows; measure the lab again");
  std::map<std::tuple<std::int64_t, std::string, std::string, double>, size_t> lines;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Observation& row = rows[i];
    const auto [first, is_new] = lines.try_emplace({row.seed, row.variant, row.quantity, row.x}, i + 2);
    if (!is_new)
      fail<DataError>(path, ": line ", i + 2, " is of the same seed, variant, quantity and x as line ",
                      first->second, "; leave one of them out");
  }
  return rows;
}

std::vector<std::int64_t> seeds_of(const Rows& rows) {
  std::vector<std::int64_t> seeds;
  for (const Observation& row : rows) seeds.push_back(row.seed);
  std::ranges::sort(seeds);
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  return seeds;
}

std::vector<std::string> quantities_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const Observation& row : rows) add_new(names, row.quantity);
  return names;
}

std::vector<std::string> variants_of(const Rows& rows, std::string_view quantity) {
  std::vector<std::string> names;
  for (const Observation& row : rows)
    if (row.quantity == quantity) add_new(names, row.variant);
  return names;
}

Points points_of(const Rows& rows, std::int64_t seed, std::string_view variant, std::string_view quantity) {
  Points points;
  for (const Observation& row : rows)
    if (row.seed == seed && row.quantity == quantity && row.variant == variant)
      points.emplace_back(row.x, row.value);
  std::ranges::stable_sort(points, {}, &Points::value_type::first);
  return points;
}

std::optional<double> number_of(const Rows& rows, std::int64_t seed, const LabNumber& number) {
  if (number.is) return number.is;
  Points points = points_of(rows, seed, number.variant, number.quantity);
  if (number.over == LabNumber::at_x)
    std::erase_if(points, [&](const auto& point) { return point.first != number.x; });
  if (points.empty())
    fail<DataError>("lab: seed ", seed, " has no '", number.quantity, "' of '", number.variant,
                    "' in these rows; measure the lab again");
  const double value = reduced(points, number);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace lamina::lab
