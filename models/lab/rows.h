#pragma once
// The rows of a lab as a file, and what is read from them.
//
//   seed,variant,quantity,x,value
//   1,layer,test error,5,0.0123

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/lab/lab.h"

namespace lamina::lab {

using Rows = std::vector<Observation>;

/// With six significant digits. Error for a name that a CSV file cannot hold.
std::string to_csv(const Rows& rows);

/// DataError with the line for what is no such file, or was cut off. `path` is for errors.
Rows rows_of(const std::string& path, std::string_view content);

std::vector<std::int64_t> seeds_of(const Rows& rows);      ///< rising
std::vector<std::string> quantities_of(const Rows& rows);  ///< in the order of the rows
/// In the order of the rows.
std::vector<std::string> variants_of(const Rows& rows, std::string_view quantity);

/// x, rising, and the value there: of one seed.
using Points = std::vector<std::pair<double, double>>;
Points points_of(const Rows& rows, std::int64_t seed, std::string_view variant, std::string_view quantity);

/// What the number is of this seed; nothing where it is not finite. DataError when the seed has no such rows: some are lost,
/// or the claim is of another version.
std::optional<double> number_of(const Rows& rows, std::int64_t seed, const LabNumber& number);

}  // namespace lamina::lab
