#pragma once
// Images come in two layouts. Here they are [N x H x W x C]: the channels of a pixel lie side by side,
// because the last axis is what layers mix, normalizations scale and vectors hold. PyTorch's files and many
// data sets are [N x C x H x W]: all pixels of a channel side by side.

#include <string>

#include "core/tensor.h"

namespace lamina {

/// For the text of an error about images that do not have `channels` of them: the remedy where the other layout is
/// the likely reason, else nothing.
std::string layout_hint(const Shape& images, size_t channels);

/// [N x C x H x W] -> [N x H x W x C]
Tensor channels_last(const Tensor& x);

/// [N x H x W x C] -> [N x C x H x W]
Tensor channels_first(const Tensor& x);

}  // namespace lamina
