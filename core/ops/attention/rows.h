#pragma once

#include <cstddef>

#include "core/real.h"

namespace lamina::attention_head {

/// The rows of one head inside a larger tensor, one for each position: row t begins at data + t * stride.
template <class Number>
struct Rows {
  Number* data;
  size_t stride;
  Number* operator[](size_t t) const { return data + t * stride; }
};

}  // namespace lamina::attention_head
