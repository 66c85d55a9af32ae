#pragma once
// Weight normalization (Salimans and Kingma 2016): the length of a weight vector and its direction are
// learned separately.
//
//   w_j = g_j v_j / norm2(v_j)
//
// In the paper's terms mu = 0 and sigma = norm2(w): a normalization that depends on the weights, not the
// data.

#include <string>

#include "core/tensor.h"

namespace lamina {

/// v [inputs x outputs], one weight vector per column; gain [outputs]. Fused. Throws Error for other shapes.
/// A vector of zeros has no direction and gives NaN, one whose length exceeds the largest real gives zeros.
Tensor weight_norm(const Tensor& v, const Tensor& gain);

/// The same function, written from primitive ops, for vectors whose squares are in the range of real.
namespace composed {
Tensor weight_norm(const Tensor& v, const Tensor& gain);
}

/// x w + bias with w as above, where x v is in the range of real: x [... x inputs], bias [outputs] or an empty handle.
/// w itself never exists: the scale of a weight vector is that of its output, x w_j = (x v_j) g_j / norm2(v_j), and
/// there are fewer outputs than weights.
Tensor weight_norm_linear(const Tensor& x, const Tensor& v, const Tensor& gain, const Tensor& bias);

/// norm2 of every column: [inputs x outputs] -> [outputs]. No gradient; for initial gains and for study.
Tensor column_norms(const Tensor& v);

/// The same as the gain with which w starts as v. Throws Error, naming the parameter v, for a column of zeros.
Tensor length_of_columns(const Tensor& v, const std::string& parameter);

}  // namespace lamina
