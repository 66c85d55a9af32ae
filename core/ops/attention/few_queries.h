#pragma once
// The forward pass of one head for a few queries, as when text is written word by word: lanes are numbers of a row here,
// because panels of queries would be almost empty.

#include "core/ops/attention/head.h"

namespace lamina::attention_head {

/// Up to how many queries this is faster than panels.
inline constexpr size_t few_queries = 4;

/// Y. Scores are summed in another order than those of panels and may differ in their last digits, so a backward pass
/// cannot follow.
void forward_few(const Head& head, const Rows<real>& y);

}  // namespace lamina::attention_head
