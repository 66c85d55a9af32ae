#pragma once
// The reader's attention over the states of the passage, given the question (Hermann et al. 2015;
// Section 6.2).
//
//   m_t = tanh(k_t + q + d_t . v)               k_t = W_d d_t, q = W_q u, projected by the caller
//   e_t = w . m_t
//   alpha = softmax over t of e_t               padded steps left out
//   r = sum_t alpha_t d_t
//
// The number d_t . v is added to every unit of m_t: the bilinear term of the authors' public code, where it is
// (U d_t) . (U u) with one matrix U for both, so v = U^T U u.

#include "core/tensor.h"

namespace lamina::attentive_reader {

struct AttentionInputs {
  Tensor states;         ///< d_t [T x B x H]
  Tensor keys;           ///< k_t [T x B x A]
  Tensor query;          ///< q [B x A]
  Tensor relation = {};  ///< v [B x H]; empty: no bilinear term
  Tensor weight;         ///< w [A]
  Tensor mask = {};      ///< [T x B]: 1, or 0 at padded steps; empty: no padding
};

struct Attended {
  Tensor context;  ///< r [B x H]
  Tensor weights;  ///< alpha [T x B], for inspection: no gradient flows through
};

/// Fused: the passage is read once forward and once backward. Throws Error, naming the shapes, when they do
/// not fit.
Attended attend(const AttentionInputs& inputs);

/// The mean of the states [T x B x H] over the steps that are not padded: [B x H].
Tensor mean_state(const Tensor& states, const Tensor& mask);

/// The same functions from primitive ops.
namespace composed {
Attended attend(const AttentionInputs& inputs);
Tensor mean_state(const Tensor& states, const Tensor& mask);
}  // namespace composed

}  // namespace lamina::attentive_reader
