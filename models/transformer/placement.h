#pragma once
// Where the normalization stands in a Transformer, at initialization: how the stream grows from block to block, and how
// large the gradients of the blocks' last matrices are (Xiong et al. 2020, "On Layer Normalization in the Transformer
// Architecture", and what others did about it).
//
// The model is that of their theory: independent inputs N(0, I), a single head whose attention is uniform (W_query and
// W_key are zero), the feed-forward part relu(x W(1,l)) W(2,l) no wider than the stream, all matrices square as Glorot
// and Bengio draw them, and the loss of one position. Squared lengths are per feature, so that inputs have 1.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "layers/attention/transformer_block.h"

namespace lamina::transformer {

struct PlacementCase {
  Placement placement;
  Norm norm;
  const char* name;   ///< in files
  const char* title;  ///< in figures and tables
  const char* block;  ///< the formula
};

inline constexpr PlacementCase placement_cases[] = {
    {Placement::post, Norm::layer, "post", "post-LN", "x <- LN(x + F(x))"},
    {Placement::pre, Norm::layer, "pre", "pre-LN", "x <- x + F(LN(x))"},
    {Placement::pre, Norm::none, "none", "none", "x <- x + F(x)"},
    {Placement::sandwich, Norm::layer, "sandwich", "sandwich", "x <- x + LN(F(LN(x)))"},
    {Placement::scaled_pre, Norm::layer, "scaled-pre", "scaled pre-LN", "x <- x + F(LN(x) / sqrt(l))"},
};

struct StreamOptions {
  PlacementCase how = placement_cases[0];
  size_t depth = 6;    ///< L
  size_t width = 128;  ///< d, also of the feed-forward part, and the number of classes
  size_t tokens = 16;  ///< positions that the attention averages over
  std::uint64_t seed = 1;
};

/// For each block l = 1 ... L.
struct Stream {
  /// Squared length per feature, mean over the positions, of x + F(x), before post-LN normalizes it: after attention,
  /// and after the feed-forward part.
  std::vector<double> after_attention, after_block;
  std::vector<double> gradient;  ///< norm2 of dL/dW(2,l)
};

/// Of one random model.
Stream observe(const StreamOptions& options);

/// The same in the mean field, the limit of wide models: a recursion for the squared length s of a position and the
/// product q of two positions, both per feature. Attention returns the mean a = q + (s - q) / T of its inputs at every
/// position; the feed-forward part halves s, and makes of q what relu makes of two Gaussians of correlation
/// c = q / s (Cho and Saul 2009):
///
///   s k(c) / 2,   k(c) = (sqrt(1 - c^2) + c (pi - arccos c)) / pi
///
/// `gradient` has the last block's alone, |h| |dL/dy| for y = h W(2,L): |h|^2 is d / 2 times the square of the relu's
/// normalized inputs, and dL/dy comes from the classes with length 1 (sqrt(2) without norms, where the model is certain
/// and wrong) divided by the lengths that norms take away.
Stream mean_field(const StreamOptions& options);

/// b of y = a x^b, by least squares of the logarithms.
double fitted_exponent(std::span<const double> x, std::span<const double> y);

}  // namespace lamina::transformer
