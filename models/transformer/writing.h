#pragma once
// Text from a trained model, one token after another: each is drawn from what the model says comes next.

#include <cstdint>
#include <span>
#include <vector>

#include "models/transformer/model.h"

namespace lamina::transformer {

struct WritingOptions {
  size_t length = 200;  ///< tokens to write
  double temperature =
      1;  ///< logits are divided by it: below 1 likelier tokens become likelier still; 0: the likeliest
  size_t top_k = 0;  ///< only so many likeliest tokens may come; 0: all
  std::uint64_t seed = 1;
};

/// The tokens that follow `prompt`. <eos> and <unk> are never written. The model sees at most its `length` of tokens:
/// when they are full it forgets the older half, and reads the newer one again. Throws Error for an empty prompt, and
/// for one that is longer than the model sees.
std::vector<int> write(Model& model, std::span<const int> prompt, const WritingOptions& options);

/// A token by its logit, as the options say.
int draw_token(std::span<const real> logits, const WritingOptions& options, Random& random);

}  // namespace lamina::transformer
