// Exercise 7.4: how far a sum over a window that extends beyond the border can deviate.
#include "exercises.h"

#include <cmath>
using namespace lamina;

/// How many of the K rows of a window around position i meet the image.
size_t rows_inside(size_t i, size_t size, size_t kernel, size_t padding) {
  size_t count = 0;
  // [ your code: row u of the window is row i + u - padding of the image
  for (size_t u = 0; u < kernel; ++u)
    if (i + u >= padding && i + u < size + padding) ++count;
  // ]
  // mistake: you count the rows beyond one border alone: windows end beyond the other one, too
  // ~ for (size_t u = 0; u < kernel; ++u)
  // ~   if (i + u >= padding) ++count;
  // mistake: your deviation is right for a window of 5 with padding 2, not for one of 4 with padding 3
  // ~ for (size_t u = 0; u < kernel; ++u)
  // ~   if (i + u >= kernel / 2 && i + u < size + kernel / 2) ++count;
  // mistake: your deviation is right for a window of 5 with padding 2, not for one of 4 with padding 3
  // ~ for (size_t u = 0; u < kernel; ++u)
  // ~   if (i + u >= (kernel - 1) / 2 && i + u < size + (kernel - 1) / 2) ++count;
  return count;
}

Tensor border_deviation(size_t size, size_t kernel, size_t padding) {
  const size_t positions = size + 2 * padding - kernel + 1;
  Tensor s = Tensor::zeros({positions, positions});
  for (size_t i = 0; i < positions; ++i)
    for (size_t j = 0; j < positions; ++j) {
      const real rows = real(rows_inside(i, size, kernel, padding));
      const real columns = real(rows_inside(j, size, kernel, padding));
      // [ your code: s.at(i, j)
      s.at(i, j) = std::sqrt(rows * columns) / real(kernel);
      // ]
      // mistake: your numbers are variances: a deviation is the root of one
      // ~ s.at(i, j) = rows * columns / real(kernel * kernel);
      // mistake: your numbers are sums of rows and columns: a window has rows times columns taps
      // ~ s.at(i, j) = std::sqrt((rows + columns) / real(2 * kernel));
      // mistake: your numbers are roots of counts of taps: divide them by that of a window inside of the image
      // ~ s.at(i, j) = std::sqrt(rows * columns);
    }
  return s;
}
