#pragma once
// Multi-head attention (Vaswani et al. 2017, section 3.2): every position asks all others, in several heads at once.
//
//   head_h = softmax(Q_h K_h^T / sqrt(d) + mask) V_h,   d = width / heads
//   y      = [head_1 ... head_heads] W_out + b_out
//
// In self attention, queries, keys and values all come from x: [Q K V] = x W_in + b_in, one product. In cross attention
// the queries come from x and the others from a memory, such as the encoder's output: Q = x W_query + b_query,
// [K V] = memory W_memory + b_memory.

#include <optional>
#include <string>

#include "core/ops/attention/attention.h"
#include "layers/attention/key_value_cache.h"
#include "layers/linear.h"

namespace lamina {

struct MultiHeadAttentionOptions {
  size_t width = 0;  ///< of x and of the result; must be divisible by the heads
  size_t heads = 1;
  size_t memory_width = 0;         ///< cross attention to a memory of this width; 0: self attention
  bool causal = false;             ///< of self attention: no position sees later ones
  bool rotary = false;             ///< of self attention: rotary positions (layers/attention/positions.h)
  bool bias = true;                ///< in all linear layers
  Norm weights = Norm::none;       ///< of all linear layers (LinearOptions::weights)
  Initializer initial = xavier();  ///< of the weights, each of W_query, W_key, W_value and W_out for itself
};

/// Parameters as those of Linear: self attention has `name`.in [width x 3 width], queries, keys, values side by side,
/// cross attention `name`.query [width x width] and `name`.memory [memory_width x 2 width], keys and values; both have
/// `name`.out [width x width]. Biases start at 0. Throws Error for sizes of 0, a width that is not divisible by the
/// heads, rotary positions with heads of odd width, and rotary positions or a causal order with a memory.
class MultiHeadAttention {
 public:
  MultiHeadAttention(Parameters& parameters, const std::string& name,
                     const MultiHeadAttentionOptions& options);

  /// Self attention: x [B x T x width] -> [B x T x width]. It is causal if the layer is or `options` say so.
  Tensor operator()(const Tensor& x, const AttentionOptions& options = {}) const;

  /// Cross attention: x [B x Tq x width], memory [B x Tk x memory_width] -> [B x Tq x width]. The lengths and the mask
  /// in `options` are those of the memory.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionOptions& options = {}) const;

  /// The results at t more positions, after those in the cache, which x enters: [B x t x width] -> [B x t x width], as
  /// operator() gives them for the whole text, to rounding. Records nothing. Throws Error for a layer that is not
  /// causal, where earlier results depend on later tokens, and for a cache of another layer or batch.
  Tensor next(const Tensor& x, KeyValueCache& cache) const;

 private:
  /// [Q K V] of x, whose first position is `first`: [B x T x 3 width].
  Tensor queries_keys_values(const Tensor& x, size_t first) const;
  void require(const Tensor& x, const char* what, size_t width) const;

  std::string name_;
  size_t width_, heads_, memory_width_;
  bool causal_, rotary_;
  std::optional<Linear> in_, query_, memory_;  ///< in_ for self attention, else the others
  std::optional<Linear> out_;
};

}  // namespace lamina
