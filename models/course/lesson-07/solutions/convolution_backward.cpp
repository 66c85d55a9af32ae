// Exercise 7.2: the gradients of a convolution, by the loops of its forward pass.
#include "exercises.h"
using namespace lamina;

ConvolutionGradients convolution_backward(const Tensor& x, const Tensor& w, const Tensor& dy,
                                          size_t padding) {
  const size_t images = x.shape()[0], height = x.shape()[1], width = x.shape()[2], channels = x.shape()[3];
  const size_t kernel = w.shape()[0], outputs = w.shape()[3];
  ConvolutionGradients d = {Tensor::zeros(x.shape()), Tensor::zeros(w.shape()), Tensor::zeros({outputs})};
  for (size_t n = 0; n < images; ++n)
    for (size_t i = 0; i < dy.shape()[1]; ++i)
      for (size_t j = 0; j < dy.shape()[2]; ++j)
        for (size_t o = 0; o < outputs; ++o) {
          const real g = dy.at(n, i, j, o);
          // [ your code: what dL/dy of this one number contributes to d.db
          d.db[o] += g;
          // ]
          // mistake: your d(b) keeps the last position alone: every position of every image adds to it
          // ~ d.db[o] = g;
          // mistake: your d(b) lacks the sum over the images
          // ~ if (n == 0) d.db[o] += g;
          for (size_t u = 0; u < kernel; ++u)
            for (size_t v = 0; v < kernel; ++v) {
              if (i + u < padding || i + u >= height + padding) continue;  // the tap is outside of the image
              if (j + v < padding || j + v >= width + padding) continue;
              for (size_t c = 0; c < channels; ++c) {
                // [ your code: what it contributes to d.dw and d.dx
                d.dw.at(u, v, c, o) += x.at(n, i + u - padding, j + v - padding, c) * g;
                d.dx.at(n, i + u - padding, j + v - padding, c) += w.at(u, v, c, o) * g;
                // ]
                // mistake: your code goes beyond an axis
                // ~ d.dw.at(u, v, c, o) += x.at(n, i + u, j + v, c) * g;
                // ~ d.dx.at(n, i + u, j + v, c) += w.at(u, v, c, o) * g;
                // mistake: your gradients are right for windows of 3 with padding 1, not for windows of 4 without padding
                // ~ d.dw.at(u, v, c, o) += x.at(n, i + u - padding, j + v - padding, c) * g;
                // ~ if (padding == kernel / 2) d.dx.at(n, i + u - padding, j + v - padding, c) += w.at(u, v, c, o) * g;
                // mistake: your d(w) keeps the last position alone: every patch adds to it
                // ~ d.dw.at(u, v, c, o) = x.at(n, i + u - padding, j + v - padding, c) * g;
                // ~ d.dx.at(n, i + u - padding, j + v - padding, c) += w.at(u, v, c, o) * g;
                // mistake: your d(w) lacks the sum over the images
                // ~ if (n == 0) d.dw.at(u, v, c, o) += x.at(n, i + u - padding, j + v - padding, c) * g;
                // ~ d.dx.at(n, i + u - padding, j + v - padding, c) += w.at(u, v, c, o) * g;
                // mistake: your d(x) keeps the last window alone: a pixel is in several, and all of them add to it
                // ~ d.dw.at(u, v, c, o) += x.at(n, i + u - padding, j + v - padding, c) * g;
                // ~ d.dx.at(n, i + u - padding, j + v - padding, c) = w.at(u, v, c, o) * g;
                // mistake: your d(x) turns the window around: through tap (u, v) a pixel gets w[u][v], whatever the direction
                // ~ d.dw.at(u, v, c, o) += x.at(n, i + u - padding, j + v - padding, c) * g;
                // ~ d.dx.at(n, i + u - padding, j + v - padding, c) += w.at(kernel - 1 - u, kernel - 1 - v, c, o) * g;
              }
            }
        }
  return d;
}
