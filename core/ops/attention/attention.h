#pragma once
// Scaled dot-product attention of several heads (Vaswani et al. 2017, "Attention Is All You Need", equation 1) as one
// op. For each case and each head
//
//   y_i = sum_j p_ij v_j,   p_i = softmax over j of s_ij,   s_ij = scale q_i . k_j + mask_ij
//
// Neither pass holds a matrix [Tq x Tk]: both go through it in blocks, and between them only the result and two
// numbers per row and head are kept (Dao et al. 2022, "FlashAttention"). Memory grows with T, not with its square.

#include "core/memory/cached_vector.h"
#include "core/tensor.h"

namespace lamina {

struct AttentionOptions {
  /// Query i sees the keys up to number i + Tk - Tq: the last query sees all, and where Tq = Tk each sees itself and
  /// those before it.
  bool causal = false;
  /// How many keys of each case are real, 0 to Tk; the others are hidden, and neither their keys nor their values are
  /// read. Empty: all are real.
  CachedVector<int> lengths = {};
  /// Added to the scores: [Tq x Tk], [B x Tq x Tk] or [B x heads x Tq x Tk]; -infinity hides. A constant: it gets no
  /// gradient, and backward() throws Error where it was written since.
  Tensor mask = {};
  real scale = 0;  ///< of the scores; 0: 1 / sqrt(d)
};

/// q [B x Tq x heads x d], k and v [B x Tk x heads x d] -> [B x Tq x heads x d]. A query from which every key is hidden
/// gets zeros, and zero gradients. Throws Error for sizes, lengths or a mask that do not fit.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

/// The same where one linear layer made all three: qkv [B x T x 3 heads d] holds, for each position, the queries, the
/// keys and the values of all heads -> [B x T x heads d].
Tensor self_attention(const Tensor& qkv, size_t heads, const AttentionOptions& options = {});

/// The same functions from primitive ops: products of matrices, softmax. They read hidden keys and values as well, which must
/// be finite: 0 times NaN is NaN.
namespace composed {
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});
Tensor self_attention(const Tensor& qkv, size_t heads, const AttentionOptions& options = {});
}  // namespace composed

}  // namespace lamina
