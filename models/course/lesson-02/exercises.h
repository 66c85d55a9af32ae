#pragma once
// The exercises of lesson 2: your files implement these functions, the judge calls them.

#include <lamina.h>

// matmul_backward.cpp

struct ProductGradients {
  lamina::Tensor dx, dweight;  // of the shapes of x and weight
};

/// The derivatives of a loss for the factors of y = x weight: x [cases x inputs], weight [inputs x units], and dy,
/// [cases x units], the loss's derivative for y.
ProductGradients matmul_backward(const lamina::Tensor& x, const lamina::Tensor& weight,
                                 const lamina::Tensor& dy);

// sum_to.cpp

/// The derivative for an operand b of this shape, which was repeated to the shape of dy, [rows x columns], when y was
/// computed as x + b. The shape is [columns], [rows x 1], [scalar], or that of dy: nothing was repeated.
lamina::Tensor sum_to(const lamina::Tensor& dy, const lamina::Shape& shape);

// smooth_abs.cpp

/// An op: y = sqrt(x^2 + 1) - 1 for every element.
lamina::Tensor smooth_abs(const lamina::Tensor& x);

// scale_columns.cpp

/// An op: y_rc = x_rc gain_c, x [rows x columns], gain [columns].
lamina::Tensor scale_columns(const lamina::Tensor& x, const lamina::Tensor& gain);
