#pragma once
// What the exercises of lesson 9 define.

#include <lamina.h>

#include <functional>

// attend.cpp

/// One head: Y = softmax(Q K^T / sqrt(d) + mask) V, the softmax over the keys. q [Tq x d], k [Tk x d], v [Tk x dv],
/// mask [Tq x Tk] -> [Tq x dv].
lamina::Tensor attend(const lamina::Tensor& q, const lamina::Tensor& k, const lamina::Tensor& v,
                      const lamina::Tensor& mask);

// causal_mask.cpp

/// [queries x keys], 0 where the query sees the key and -infinity elsewhere. The last query sees all keys, each query
/// before it one key less: query i sees the keys up to number i + keys - queries.
lamina::Tensor causal_mask(size_t queries, size_t keys);

// attend_backward.cpp

struct AttentionGradients {
  lamina::Tensor dq, dk, dv;
};

/// dL/dQ, dL/dK and dL/dV of one head without a mask, from dy = dL/dY [Tq x dv].
AttentionGradients attend_backward(const lamina::Tensor& q, const lamina::Tensor& k, const lamina::Tensor& v,
                                   const lamina::Tensor& dy);

// blocks.cpp

using Part = std::function<lamina::Tensor(const lamina::Tensor&)>;

/// What a block is made of: attention with its norm, the feed-forward part with its norm.
struct Parts {
  Part attention_norm, attention, feed_forward_norm, feed_forward;
};

/// The result of a pre-LN block for the stream x, and of a post-LN block.
lamina::Tensor pre_ln_block(const lamina::Tensor& x, const Parts& parts);
lamina::Tensor post_ln_block(const lamina::Tensor& x, const Parts& parts);
