#include <limits>

#include "core/ops.h"
#include "core/ops/attention/sizes.h"
#include "core/ops/map.h"

namespace lamina {

namespace {

constexpr real infinity = std::numeric_limits<real>::infinity();

/// [B x 1 x Tq x Tk]: 1 where a query sees a key, else 0.
Tensor visible_keys(const AttentionSizes& s, const AttentionOptions& options) {
  Tensor visible = Tensor::zeros({s.cases, 1, s.queries, s.keys});
  for (size_t b = 0; b < s.cases; ++b)
    for (size_t i = 0; i < s.queries; ++i)
      for (size_t j = 0; j < s.real_keys(options, b); ++j)
        if (!options.causal || j + s.queries <= i + s.keys) visible.at(b, 0, i, j) = 1;
  return visible;
}

/// The mask with all four axes.
Tensor mask_of_heads(const Tensor& mask) {
  const Shape& s = mask.shape();
  return s.rank() == 3 ? mask.reshape({s[0], 1, s[1], s[2]}) : mask;
}

Tensor number(real value) { return Tensor::full({}, value); }

/// [B x T x heads x d] <-> [B x heads x T x d]
Tensor exchange_heads_and_positions(const Tensor& x) { return permute(x, {0, 2, 1, 3}); }

}  // namespace

/// softmax(scale Q K^T + mask) V, where rows that see nothing are replaced by zeros before and after the softmax.
Tensor composed::attention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const AttentionOptions& options) {
  const AttentionSizes s = attention_sizes(q, k, v, options);
  if (s.keys == 0) return Tensor::zeros(q.shape());
  const Tensor queries = exchange_heads_and_positions(q), keys = exchange_heads_and_positions(k),
               values = exchange_heads_and_positions(v);
  Tensor scores = matmul(queries, keys, {.b = Transpose::yes}) * s.scale;
  if (options.mask.defined()) scores = scores + mask_of_heads(options.mask);
  scores = where(visible_keys(s, options), scores, number(-infinity));
  const Tensor largest = max(scores.detach(), -1, {.keep = true});
  const Tensor sees_some =
      generate(largest.shape(), [m = largest.data()](size_t i) { return real(m[i] != -infinity); });
  const Tensor shares = where(sees_some, softmax(where(sees_some, scores, number(0))), number(0));
  return exchange_heads_and_positions(matmul(shares, values));
}

Tensor composed::self_attention(const Tensor& qkv, size_t heads, const AttentionOptions& options) {
  const AttentionSizes s = self_attention_sizes(qkv, heads, options);
  const size_t width = heads * s.width;
  const auto part = [&](size_t i) {
    return slice(qkv, -1, i * width, (i + 1) * width).reshape(s.of_queries());
  };
  return composed::attention(part(0), part(1), part(2), options).reshape({s.cases, s.queries, width});
}

}  // namespace lamina
