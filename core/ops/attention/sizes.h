#pragma once
// The sizes of one attention, and the checks that the fused op and its twin share.

#include "core/ops/attention/attention.h"

namespace lamina {

struct AttentionSizes {
  size_t cases, queries, keys, heads, width;  ///< B, Tq, Tk, heads, d
  real scale;

  Shape of_queries() const { return {cases, queries, heads, width}; }
  /// How many keys of a case are real.
  size_t real_keys(const AttentionOptions& options, size_t item) const {
    return options.lengths.empty() ? keys : static_cast<size_t>(options.lengths[item]);
  }
};

/// Throws Error, in the name of the op, for what does not fit.
AttentionSizes attention_sizes(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionOptions& options);
AttentionSizes self_attention_sizes(const Tensor& qkv, size_t heads, const AttentionOptions& options);

}  // namespace lamina
