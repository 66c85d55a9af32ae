#pragma once
// How far images and captions are from being in order, and the loss that trains them to be (Section 6.1,
// after Vendrov et al. 2016). A caption is more general than its image: it is above it in the order, which
// means that each coordinate of the caption is at most the image's.

#include "core/tensor.h"

namespace lamina::order_embedding {

/// S_ij = -E(s_j, im_i) with E(s, im) = sum_d max(0, s_d - im_d)^2: 0 where the pair is in order, negative
/// otherwise. images [N x D], captions [M x D] -> [N x M]. Throws Error when the widths differ.
Tensor order_scores(const Tensor& images, const Tensor& captions);

/// L = sum over i != j of max(0, margin - S_ii + S_ij) + max(0, margin - S_jj + S_ij): image i prefers its
/// own caption to caption j, caption j its own image to image i. scores [B x B], pairs on the diagonal.
/// Throws Error when they are not square.
Tensor contrastive_loss(const Tensor& scores, real margin);

namespace composed {
/// The same from primitive ops.
Tensor order_scores(const Tensor& images, const Tensor& captions);
Tensor contrastive_loss(const Tensor& scores, real margin);
}  // namespace composed

}  // namespace lamina::order_embedding
