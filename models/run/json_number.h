#pragma once
// Numbers from JSON. The JSON library converts without range checks: the result for a number that does not
// fit is undefined.

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace lamina {

/// A JSON number as a whole number of this type. Throws Error, naming `name`, when it is of another kind, has
/// a fraction or does not fit.
template <std::integral Whole, class Json>
Whole whole_from_json(const Json& value, std::string_view name) {
  const bool fits = value.is_number_unsigned()  ? std::in_range<Whole>(value.template get<std::uint64_t>())
                    : value.is_number_integer() ? std::in_range<Whole>(value.template get<std::int64_t>())
                                                : false;
  if (!fits)
    fail("'", name, "' is no whole number from ", std::numeric_limits<Whole>::min(), " to ",
         std::numeric_limits<Whole>::max());
  return value.template get<Whole>();
}

}  // namespace lamina
