#include "core/ops/attention/attention.h"

namespace lamina {

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  return composed::attention(q, k, v, options);
}

Tensor self_attention(const Tensor& qkv, size_t heads, const AttentionOptions& options) {
  return composed::self_attention(qkv, heads, options);
}

}  // namespace lamina
