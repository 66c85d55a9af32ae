#pragma once
// What the exercises of lesson 7 define. Images and maps are [N x H x W x C], windows [K x K x C x O], the stride is 1.

#include <lamina.h>

/// The patches of x as rows: p[(n H' + i) W' + j][(u K + v) C + c] = x[n][i + u - padding][j + v - padding][c], and 0
/// where that is outside of the image; H' = H + 2 padding - K + 1, and W' likewise.
lamina::Tensor patches(const lamina::Tensor& x, size_t kernel, size_t padding);

struct ConvolutionGradients {
  lamina::Tensor dx, dw, db;
};

/// dL/dx, dL/dw and dL/db of y = convolution of x with w, plus b [O], from dL/dy [N x H' x W' x O].
ConvolutionGradients convolution_backward(const lamina::Tensor& x, const lamina::Tensor& w,
                                          const lamina::Tensor& dy, size_t padding);

/// (a - mu) / sqrt(sigma^2 + 1e-5): layer norm of maps, which has one mu and one sigma for each image.
lamina::Tensor normalize_images(const lamina::Tensor& a);

/// The same as batch norm: one mu and one sigma for each channel.
lamina::Tensor normalize_channels(const lamina::Tensor& a);

/// The deviation of what a window sums up at each position of a map [H' x H'], divided by that of a window which lies
/// inside of the image [size x size]: pixels and weights are independent, with mean 0 and one variance each.
lamina::Tensor border_deviation(size_t size, size_t kernel, size_t padding);
