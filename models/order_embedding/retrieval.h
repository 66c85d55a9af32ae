#pragma once
// How well images and captions find each other (Table 2).

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace lamina::order_embedding {

/// Over a list of searches: the percentage in which the right answer was among the first 1, 5 and 10, and the
/// mean rank of the right answer, from 1.
struct Recall {
  double at1 = 0, at5 = 0, at10 = 0, mean_rank = 0;
  double sum() const { return at1 + at5 + at10; }
};

/// From the number of wrong answers before the right one, for each search.
Recall recall_of(std::span<const size_t> ranks);

struct Retrieval {
  Recall caption;  ///< each image searches: the best of its own captions counts
  Recall image;    ///< each caption searches its image
  /// R@1 + R@5 + R@10 in both directions.
  double sum() const { return caption.sum() + image.sum(); }
};

/// scores [N x N per_image], larger is better; image i owns the captions from i per_image
/// on. A wrong answer with the same score as the right one, or with a NaN on either side, is ranked before
/// it: a model that scores everything alike finds nothing. Throws Error for another shape.
Retrieval retrieval_of(const Tensor& scores, size_t per_image);

/// The mean of each number.
Retrieval mean_of(std::span<const Retrieval> all);

}  // namespace lamina::order_embedding
