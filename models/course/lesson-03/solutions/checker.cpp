// A gradient checker of your own.
#include <algorithm>
#include <cmath>

#include "exercises.h"

/// The central difference of f in x[i].
double difference(const Function& f, std::vector<double> x, size_t i, double h) {
  // [ your code: f(x) is f with all its variables; change x[i] alone
  const double kept = x[i];
  x[i] = kept + h;
  const double ahead = f(x);
  x[i] = kept - h;
  return (ahead - f(x)) / (2 * h);
  // | return 0;
  // ]
  // mistake: your quotient is one-sided: the error for x^3 at 1 is 3h, where central differences have h^2
  // ~ const double here = f(x);
  // ~ x[i] += h;
  // ~ return (f(x) - here) / h;
  // mistake: your difference is divided by h, but the two points are 2h apart
  // ~ const double kept = x[i];
  // ~ x[i] = kept + h;
  // ~ const double ahead = f(x);
  // ~ x[i] = kept - h;
  // ~ return (ahead - f(x)) / h;
  // mistake: your difference is multiplied by h: / 2 * h is not / (2 * h)
  // ~ const double kept = x[i];
  // ~ x[i] = kept + h;
  // ~ const double ahead = f(x);
  // ~ x[i] = kept - h;
  // ~ return (ahead - f(x)) / 2 * h;
  // mistake: your second point is x, not x - h: the first step of h was undone, the second is missing
  // ~ x[i] += h;
  // ~ const double ahead = f(x);
  // ~ x[i] -= h;
  // ~ return (ahead - f(x)) / (2 * h);
  // mistake: your two steps change all of x; only x[i] may change
  // ~ std::vector<double> ahead = x, behind = x;
  // ~ for (double& v : ahead) v += h;
  // ~ for (double& v : behind) v -= h;
  // ~ return (f(ahead) - f(behind)) / (2 * h);
}

/// |gradient - difference|, relative to the larger of both, or to `floor` when that is larger still.
double relative_error(double gradient, double difference, double floor) {
  // [ your code
  return std::fabs(gradient - difference) / std::max({std::fabs(gradient), std::fabs(difference), floor});
  // | return 0;
  // ]
  // mistake: your error is negative when the gradient is the smaller one: take the absolute value
  // ~ return (gradient - difference) / std::max({std::fabs(gradient), std::fabs(difference), floor});
  // mistake: your error compares with a negative number: the larger of two magnitudes is asked for
  // ~ return std::fabs(gradient - difference) / std::max({gradient, difference, floor});
  // mistake: your error is 0 for a gradient with the wrong sign: subtract the numbers themselves
  // ~ const double a = std::fabs(gradient), b = std::fabs(difference);
  // ~ return std::fabs(a - b) / std::max({a, b, floor});
  // mistake: your error is infinite for a gradient of 0: divide by the larger of both
  // ~ return std::fabs(gradient - difference) / std::fabs(gradient);
  // mistake: your error is 0 / 0 when gradient and difference are both 0: divide by `floor` at least
  // ~ return std::fabs(gradient - difference) / std::max(std::fabs(gradient), std::fabs(difference));
}
