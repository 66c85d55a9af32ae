// The roofline of y = x W, when nothing but W has to come from memory, once.
#include <algorithm>

#include "exercises.h"

double attainable(double batch, double in, double out, double peak_gflops, double memory_gbytes) {
  // [ your code: FLOP, bytes, and the lower of two roofs
  const double flop = 2 * batch * in * out, bytes = sizeof(double) * in * out;
  return std::min(peak_gflops, memory_gbytes * flop / bytes);
  // | return 0;
  // ]
  // mistake: your roof is the higher of the two
  // ~ return std::max(peak_gflops, memory_gbytes * 2 * batch / sizeof(double));
  // mistake: your roof counts a multiplication and an addition as one FLOP
  // ~ return std::min(peak_gflops, memory_gbytes * batch / sizeof(double));
  // mistake: your roof divides bytes by FLOP
  // ~ return std::min(peak_gflops, memory_gbytes * sizeof(double) / (2 * batch));
  // mistake: your roof counts the bytes of x and y, too; only W comes from memory
  // ~ const double bytes = sizeof(double) * (in * out + batch * in + batch * out);
  // ~ return std::min(peak_gflops, memory_gbytes * 2 * batch * in * out / bytes);
}
