#include "optim/clip.h"

#include <cmath>
#include <span>

#include "core/ops/map.h"
#include "core/sum.h"

namespace lamina {

namespace {

// Fixed pieces, summed in a fixed order: the same result for every number of threads. In double, because the
// squares of a hundred million small numbers are added up.
constexpr size_t piece = 65536;

real norm_of(std::span<const real> values) {
  double total = 0;
  for (size_t begin = 0; begin < values.size(); begin += piece) {
    const auto part = values.subspan(begin, std::min(piece, values.size() - begin));
    total += static_cast<double>(sum_over(part.size(), [x = part.data()](size_t i) { return x[i] * x[i]; }));
  }
  return static_cast<real>(std::sqrt(total));
}

void require_limit(real limit) {
  if (!(limit > 0)) fail("clip: the limit is ", limit, "; it must be positive");
}

void shrink_to(std::span<real> gradients, real norm, real limit) {
  if (norm <= limit) return;
  const real scale = limit / norm;
  for_each_index(gradients.size(), [g = gradients.data(), scale](size_t i) { g[i] *= scale; });
}

}  // namespace

real gradient_norm(Parameters& parameters) { return norm_of(parameters.gradients()); }

real clip_gradient_norm(Parameters& parameters, real limit) {
  require_limit(limit);
  const std::span<real> gradients = parameters.gradients();
  const real norm = norm_of(gradients);
  shrink_to(gradients, norm, limit);
  return norm;
}

void clip_each_gradient_norm(Parameters& parameters, real limit) {
  require_limit(limit);
  const std::span<real> all = parameters.gradients();
  for (size_t i = 0; i < parameters.learned().size(); ++i) {
    const auto own = all.subspan(parameters.offset(i), parameters.learned()[i].value.size());
    shrink_to(own, norm_of(own), limit);
  }
}

}  // namespace lamina
