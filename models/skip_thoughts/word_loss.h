#pragma once
// The output layer of a language model and its loss as one op (Section 6.3; Kiros et al. 2015, Eq. 8).
//
//   P(word | h) = softmax(h W + b)_word,   L = mean over the predicted words of -log P(word | h)
//
// Logits exist for some hundred words at a time and never for all of them: at the paper's size those of a
// batch would take 200 MB, and their gradients as much again. While a tape records, each block's gradients
// are computed right after its logits, so that nothing is computed twice.

#include <span>

#include "core/tensor.h"

namespace lamina::skip_thoughts {

/// The states of a decoder and the words that they predict.
struct Predictions {
  Tensor states;               ///< [... x H]
  std::span<const int> words;  ///< one per state; `no_word` where there is none, as at padded steps
};
inline constexpr int no_word = -1;

/// The mean over all words of all decoders, which share weight [H x V] and bias [V]. Throws Error for other
/// shapes, for words outside of [0, V), and when there is no word at all.
Tensor word_loss(std::span<const Predictions> decoders, const Tensor& weight, const Tensor& bias);

namespace composed {
/// The same from primitive ops, with all logits at once.
Tensor word_loss(std::span<const Predictions> decoders, const Tensor& weight, const Tensor& bias);
}  // namespace composed

}  // namespace lamina::skip_thoughts
