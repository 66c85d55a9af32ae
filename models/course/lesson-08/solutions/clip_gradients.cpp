// Exercise 8.3: keep the direction of a gradient, and limit its length.
#include "exercises.h"

#include <cmath>

double clip_gradients(std::vector<std::vector<double>>& gradients, double limit) {
  double length = 0;
  // [ your code: the common length, then the factor
  for (const std::vector<double>& g : gradients)
    for (const double v : g) length += v * v;
  length = std::sqrt(length);
  if (length <= limit) return length;
  for (std::vector<double>& g : gradients)
    for (double& v : g) v *= limit / length;
  // ]
  // mistake: you clip each gradient by itself: that changes the common direction
  // ~ for (std::vector<double>& g : gradients) {
  // ~   double own = 0;
  // ~   for (const double v : g) own += v * v;
  // ~   length += own;
  // ~   for (double& v : g) v *= own > limit * limit ? limit / std::sqrt(own) : 1;
  // ~ }
  // ~ length = std::sqrt(length);
  // mistake: you clip single numbers: that changes the direction
  // ~ for (std::vector<double>& g : gradients)
  // ~   for (double& v : g) {
  // ~     length += v * v;
  // ~     v = v > limit ? limit : v < -limit ? -limit : v;
  // ~   }
  // ~ length = std::sqrt(length);
  // mistake: you make a short gradient longer: below the limit nothing changes
  // ~ for (const std::vector<double>& g : gradients)
  // ~   for (const double v : g) length += v * v;
  // ~ length = std::sqrt(length);
  // ~ for (std::vector<double>& g : gradients)
  // ~   for (double& v : g) v *= limit / length;
  // mistake: you compare each gradient's own length with the limit: it is the common length
  // ~ double longest = 0;
  // ~ for (const std::vector<double>& g : gradients) {
  // ~   double own = 0;
  // ~   for (const double v : g) own += v * v;
  // ~   length += own;
  // ~   longest = own > longest ? own : longest;
  // ~ }
  // ~ length = std::sqrt(length);
  // ~ if (std::sqrt(longest) <= limit) return length;
  // ~ for (std::vector<double>& g : gradients)
  // ~   for (double& v : g) v *= limit / length;
  // mistake: your length is a sum of squares: take its root
  // ~ for (const std::vector<double>& g : gradients)
  // ~   for (const double v : g) length += v * v;
  // ~ if (length <= limit) return length;
  // ~ for (std::vector<double>& g : gradients)
  // ~   for (double& v : g) v *= limit / length;
  // mistake: you make the length 1: it must become the limit
  // ~ for (const std::vector<double>& g : gradients)
  // ~   for (const double v : g) length += v * v;
  // ~ length = std::sqrt(length);
  // ~ for (std::vector<double>& g : gradients)
  // ~   for (double& v : g) v /= length;
  return length;
}
