#pragma once
// Weight standardization (Qiao et al. 2019): the weights that lead to a unit have mean 0 and variance 1 / fan-in.
//
//   w_ij = g_j (v_ij - mu_j) / sqrt(F (sigma_j^2 + epsilon)),  mu_j and sigma_j^2 over the F weights v_ij of unit j
//
// As weight norm it depends on the weights, not the data, and frees the length of a weight vector from its direction;
// it also takes the mean out. The gain g and the F are as in Brock et al. (2021), where the variance of a unit's output
// is g^2 times that of an input.

#include "core/tensor.h"

namespace lamina {

/// v [inputs x outputs] or the weights of a convolution [K x L x inputs x outputs], gain [outputs]. Fused. Throws Error
/// for other shapes. Equal weights, and a single one, become zeros; one of them alone gets no derivative.
Tensor weight_standardization(const Tensor& v, const Tensor& gain, real epsilon = real(1e-10));

/// The same function, written from primitive ops.
namespace composed {
Tensor weight_standardization(const Tensor& v, const Tensor& gain, real epsilon = real(1e-10));
}

/// The gain with which w is v - mu: sqrt(F (sigma^2 + epsilon)). No gradient; for initial gains.
Tensor standardization_gain(const Tensor& v, real epsilon = real(1e-10));

}  // namespace lamina
