#pragma once
// A block of a Transformer (Vaswani et al. 2017): attention, then a small network at each position, each added to the
// stream x that runs through all blocks. Where the normalization stands is a choice of its own. For both parts,
// F = attention and F = feed-forward:
//
//   post        x <- norm(x + F(x))                     (Vaswani et al. 2017)
//   pre         x <- x + F(norm(x))                     (Xiong et al. 2020 compare it with post)
//   sandwich    x <- x + norm(F(norm(x)))               (Ding et al. 2021)
//   scaled pre  x <- x + F(norm(x) / sqrt(l))           of block number l = 1, 2, ... (Sun et al. 2025)
//
//   feed-forward(x) = f(x W_inner + b_inner) W_outer + b_outer

#include <optional>
#include <string>
#include <string_view>

#include "layers/attention/multi_head_attention.h"
#include "layers/dropout.h"
#include "layers/norms/normalization.h"

namespace lamina {

enum class Placement { post, pre, sandwich, scaled_pre };

struct PlacementEntry {
  Placement placement;
  const char* name;   ///< on the command line and in files
  const char* title;  ///< in figures and tables
};

inline constexpr PlacementEntry placement_table[] = {
    {Placement::post, "post", "post-LN"},
    {Placement::pre, "pre", "pre-LN"},
    {Placement::sandwich, "sandwich", "sandwich"},
    {Placement::scaled_pre, "scaled-pre", "scaled pre-LN"},
};

const char* name_of(Placement placement);
std::optional<Placement> placement_named(std::string_view name);

enum class Activation { gelu, relu };

struct TransformerBlockOptions {
  size_t width = 0;
  size_t heads = 1;
  size_t inner = 0;  ///< width inside the feed-forward part; 0: 4 width
  Placement placement = Placement::pre;
  /// Any one for vectors; those of weights act on the linear layers. Norm::group has 8 groups of units.
  Norm norm = Norm::layer;
  size_t number = 1;    ///< l of scaled pre, from 1
  bool causal = false;  ///< no position sees later ones
  bool rotary = false;  ///< rotary positions (layers/attention/positions.h)
  real dropout = 0;     ///< of what each part adds to the stream, as Vaswani et al. have it
  Activation activation = Activation::gelu;  ///< f
  Initializer initial = xavier();            ///< of all weights
};

/// Parameters: those of MultiHeadAttention under `name`.attention; of Linear under `name`.inner and `name`.outer; of
/// the norm (layers/norms/normalization.h) under `name`.attention_norm and `name`.feed_forward_norm, and for sandwich
/// also under `name`.attention_result_norm and `name`.feed_forward_result_norm. Weights start as `initial` says, biases
/// at 0, gains of the normalizations at 1. Throws Error as those layers do, and for block number 0.
class TransformerBlock {
 public:
  TransformerBlock(Parameters& parameters, const std::string& name, const TransformerBlockOptions& options);

  /// x [B x T x width] -> [B x T x width]. In training, dropout draws its noise from `random`: for runs that can be
  /// resumed a function of the step, Random(seed).split(step).
  Tensor operator()(const Tensor& x, Mode mode, Random& random, const AttentionOptions& options = {});

  /// The same without noise. Throws Error for a block with dropout in training.
  Tensor operator()(const Tensor& x, Mode mode, const AttentionOptions& options = {});

  /// The results of t more positions after those in the cache: [B x t x width] -> [B x t x width], as operator() gives
  /// them in evaluation for the whole text, to rounding. Records nothing. Throws Error for a block that is not causal.
  Tensor next(const Tensor& x, KeyValueCache& cache);

 private:
  /// What stands around a part: the norm of the placement, and that of the part's result in a sandwich.
  struct Norms {
    Normalization norm, result_norm;
  };

  Norms norms_of(Parameters& parameters, const std::string& part) const;
  Tensor feed_forward(const Tensor& x) const;
  template <class Part>
  Tensor add_part(const Tensor& x, Mode mode, Random* random, Norms& norms, const Part& part);
  template <class Attend>
  Tensor run(const Tensor& x, Mode mode, Random* random, const Attend& attend);

  std::string name_;
  TransformerBlockOptions options_;
  Dropout dropout_;
  MultiHeadAttention attention_;
  Linear inner_, outer_;
  Norms attention_norms_, feed_forward_norms_;
};

/// The norm between the last block and the output layer, which every placement but post needs: its blocks leave the
/// stream as it is. Identity for post. Parameters as those of Normalization under `name`.
Normalization norm_after_blocks(Parameters& parameters, const std::string& name,
                                const TransformerBlockOptions& options);

}  // namespace lamina
