#pragma once
// Where DRAW reads and where it writes: a grid of N x N Gaussian filters over an A x A image (Gregor et al.
// 2015, Section 3.2). Five numbers, the focus, place the grid:
//
//   g_X = (A + 1)/2 (focus_0 + 1),  g_Y = (A + 1)/2 (focus_1 + 1)      centre, in pixels from 1 to A
//   sigma^2 = exp(focus_2)                                            variance
//   delta = (A - 1)/(N - 1) exp(focus_3)                              distance between two filters
//   gamma = exp(focus_4)                                              intensity
//
//   mu_i = g + (i - N/2 + 1/2) delta                                  centre of filter i = 0, ..., N - 1
//   F[i][a] = exp(-(a - mu_i)^2 / (2 sigma^2)) / Z_i                  a = 1, ..., A; every row sums to 1
//
//   read    gamma F_Y image F_X^T, of the image x and of the error image x - sigmoid(canvas)
//   write   F_Y^T patch F_X / gamma, which is added to the canvas
//
// For a batch both are written from primitive ops; below are the same functions for one case, forward beside
// backward, which glimpses.cpp calls.

#include "core/tensor.h"

namespace lamina::draw {

inline constexpr size_t focus_size = 5;

/// The sizes of one kind of attention.
struct Attention {
  size_t side;    ///< A
  size_t points;  ///< N

  size_t patch() const { return points * points; }
  /// Rows of images and filters are padded with zeros in memory, to whole blocks: loops over a block have a
  /// constant length, which compilers turn into a few vector instructions.
  static constexpr size_t block = 32;
  size_t width() const { return (side + block - 1) / block * block; }
  size_t image_size() const { return side * width(); }
  size_t filters_size() const { return 2 * points * width(); }
  /// The size of the scratch memory that the functions below need.
  size_t scratch_size() const { return 3 * filters_size() + image_size() + 2 * patch(); }
};

namespace composed {
/// focus [B x 5], image and canvas [B x A^2] -> [B x 2 N^2]: the patch of the image, then that of the error
/// image, row by row. Throws Error for other shapes.
Tensor read(const Attention& attention, const Tensor& focus, const Tensor& image, const Tensor& canvas);
/// focus [B x 5], patch [B x N^2] -> [B x A^2], which is added to the canvas. Throws Error for other shapes.
Tensor write(const Attention& attention, const Tensor& focus, const Tensor& patch);
}  // namespace composed

/// The same as composed::write, by the functions below and without gradients: Error where a tape would record it.
Tensor write(const Attention& attention, const Tensor& focus, const Tensor& patch);

/// Images [B x A^2] with padded rows [B x image_size], and back.
Tensor padded(const Attention& attention, const Tensor& images);
Tensor unpadded(const Attention& attention, const Tensor& images);

/// The position of the grid, in pixels from the centre of the first pixel.
struct Frame {
  double centre_x, centre_y, stride, deviation;
};
Frame frame_of(const Attention& attention, const real* focus);

// ---------------------------------------------------------------- one case

/// F_X, then F_Y, [N x width] each.
void make_filters(const Attention& attention, const real* focus, real* filters);
/// From dL/dF the derivative of all of the focus but gamma; writes dfocus[0] to dfocus[3].
void make_filters_backward(const Attention& attention, const real* focus, const real* filters,
                           const real* dfilters, real* dfocus);

/// Numbers that read and its backward pass share; all images are [A x width].
struct ReadCase {
  const real* focus;
  const real* filters;
  const real* image;
  real* error;  ///< x - sigmoid(canvas), which forward computes
  real* patch;  ///< [2 N^2], out; in the backward pass unchanged
};
void read_forward(const Attention& attention, const ReadCase& read, const real* canvas, real* scratch);
/// Writes dfocus [5], possibly in place of focus, and adds to dcanvas.
void read_backward(const Attention& attention, const ReadCase& read, const real* dpatch, real* dfocus,
                   real* dcanvas, real* scratch);

struct WriteCase {
  const real* focus;
  const real* filters;
  const real* patch;  ///< [N^2]
};
/// Adds to the canvas.
void write_forward(const Attention& attention, const WriteCase& write, real* canvas, real* scratch);
/// Writes dfocus [5] and dpatch [N^2], possibly in place of focus and patch.
void write_backward(const Attention& attention, const WriteCase& write, const real* dcanvas, real* dfocus,
                    real* dpatch, real* scratch);

}  // namespace lamina::draw
