#pragma once
// How well an affine function fits data: the part of the outputs that none reaches.

#include "core/tensor.h"

namespace lamina::lab {

/// sqrt(|Y - X A - 1 b|^2 / |Y - mean(Y)|^2) at the A and b that make it smallest, X [cases x inputs], Y [cases x
/// outputs]; the lengths are those of the whole matrices. 0: an affine function of x. 1: nothing in y is one. 0 where y
/// does not vary, NaN where it has one.
double affine_residual(const Tensor& x, const Tensor& y);

/// The same where every output may use its own input alone, y_i = g_i x_i + b_i: a gain and a bias.
double gain_and_bias_residual(const Tensor& x, const Tensor& y);

}  // namespace lamina::lab
