// Exercise: the best learning rate for a loss whose curvatures are known.
#include "exercises.h"

#include <algorithm>

double best_rate(const std::vector<double>& curvatures) {
  // [ your code: std::max_element and std::min_element give pointers to the largest and the smallest
  const double largest = *std::max_element(curvatures.begin(), curvatures.end());
  const double smallest = *std::min_element(curvatures.begin(), curvatures.end());
  return 2 / (largest + smallest);
  // | return 0;
  // ]
  // mistake: with your rate the largest curvature is at the edge of divergence: its factor is -1
  // ~ return 2 / *std::max_element(curvatures.begin(), curvatures.end());
  // mistake: with your rate the largest curvature is done in one step, but the smallest is slower than it must be
  // ~ return 1 / *std::max_element(curvatures.begin(), curvatures.end());
  // mistake: with your rate the largest curvature diverges
  // ~ return 1 / *std::min_element(curvatures.begin(), curvatures.end());
  // mistake: your rate takes the first and the last curvature for the smallest and the largest; they are in no order
  // ~ return 2 / (curvatures.front() + curvatures.back());
  // mistake: your rate is right for the curvatures 3, 8, 0.5 and 2, not for 25, 4, 1 and 9
  // ~ return 2 / (curvatures[1] + curvatures[2]);
}
