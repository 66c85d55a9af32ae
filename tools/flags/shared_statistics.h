#pragma once
// Which norms --sync-batch-norm is for.

#include <string_view>

namespace lamina {

/// Whether the flag says where a norm takes its statistics. Batch norm's variants have parts or averages of their own.
constexpr bool has_shared_statistics(std::string_view norm) {
  return norm == "batch" || norm == "batch-everywhere";
}

}  // namespace lamina
