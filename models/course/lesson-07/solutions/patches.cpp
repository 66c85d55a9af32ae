// Exercise 7.1: with its patches as rows of a matrix, a convolution is a product: y = patches(x) w.
#include "exercises.h"
using namespace lamina;

Tensor patches(const Tensor& x, size_t kernel, size_t padding) {
  const size_t images = x.shape()[0], height = x.shape()[1], width = x.shape()[2], channels = x.shape()[3];
  const size_t rows = height + 2 * padding - kernel + 1, columns = width + 2 * padding - kernel + 1;
  Tensor p = Tensor::zeros({images * rows * columns, kernel * kernel * channels});
  for (size_t n = 0; n < images; ++n)
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) {
        const size_t patch = (n * rows + i) * columns + j;
        // [ your code: fill row `patch` of p, tap by tap; a tap outside of the image stays 0
        for (size_t u = 0; u < kernel; ++u)
          for (size_t v = 0; v < kernel; ++v)
            for (size_t c = 0; c < channels; ++c) {
              if (i + u < padding || i + u >= height + padding) continue;
              if (j + v < padding || j + v >= width + padding) continue;
              p.at(patch, (u * kernel + v) * channels + c) = x.at(n, i + u - padding, j + v - padding, c);
            }
        // ]
        // mistake: your patches begin at pixel (i, j): they must begin `padding` pixels further up and to the left
        // ~ for (size_t u = 0; u < kernel; ++u)
        // ~   for (size_t v = 0; v < kernel; ++v)
        // ~     for (size_t c = 0; c < channels; ++c)
        // ~       if (i + u < height && j + v < width)
        // ~         p.at(patch, (u * kernel + v) * channels + c) = x.at(n, i + u, j + v, c);
        // mistake: your patches are transposed: u goes down and v to the right
        // ~ for (size_t u = 0; u < kernel; ++u)
        // ~   for (size_t v = 0; v < kernel; ++v)
        // ~     for (size_t c = 0; c < channels; ++c) {
        // ~       if (i + u < padding || i + u >= height + padding) continue;
        // ~       if (j + v < padding || j + v >= width + padding) continue;
        // ~       p.at(patch, (v * kernel + u) * channels + c) = x.at(n, i + u - padding, j + v - padding, c);
        // ~     }
        // mistake: your taps stand channel by channel: the channels of a pixel must stand side by side
        // ~ for (size_t u = 0; u < kernel; ++u)
        // ~   for (size_t v = 0; v < kernel; ++v)
        // ~     for (size_t c = 0; c < channels; ++c) {
        // ~       if (i + u < padding || i + u >= height + padding) continue;
        // ~       if (j + v < padding || j + v >= width + padding) continue;
        // ~       p.at(patch, (c * kernel + u) * kernel + v) = x.at(n, i + u - padding, j + v - padding, c);
        // ~     }
        // mistake: your patches are right for windows of 3 with padding 1, not for windows of 4 without padding
        // ~ for (size_t u = 0; u < kernel; ++u)
        // ~   for (size_t v = 0; v < kernel; ++v)
        // ~     for (size_t c = 0; c < channels; ++c) {
        // ~       if (i + u < kernel / 2 || i + u >= height + kernel / 2) continue;
        // ~       if (j + v < kernel / 2 || j + v >= width + kernel / 2) continue;
        // ~       p.at(patch, (u * kernel + v) * channels + c) = x.at(n, i + u - kernel / 2, j + v - kernel / 2, c);
        // ~     }
        // mistake: your patches are right for windows of 3 with padding 1, not for windows of 4 without padding
        // ~ for (size_t u = 0; u < kernel; ++u)
        // ~   for (size_t v = 0; v < kernel; ++v)
        // ~     for (size_t c = 0; c < channels; ++c) {
        // ~       if (i + u < (kernel - 1) / 2 || i + u >= height + (kernel - 1) / 2) continue;
        // ~       if (j + v < (kernel - 1) / 2 || j + v >= width + (kernel - 1) / 2) continue;
        // ~       p.at(patch, (u * kernel + v) * channels + c) = x.at(n, i + u - (kernel - 1) / 2, j + v - (kernel - 1) / 2, c);
        // ~     }
        // mistake: your code goes beyond an axis
        // ~ for (size_t u = 0; u < kernel; ++u)
        // ~   for (size_t v = 0; v < kernel; ++v)
        // ~     for (size_t c = 0; c < channels; ++c)
        // ~       p.at(patch, (u * kernel + v) * channels + c) = x.at(n, i + u - padding, j + v - padding, c);
      }
  return p;
}
