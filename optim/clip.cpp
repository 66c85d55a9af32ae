#include "optim/clip.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/math/sum.h"
#include "core/memory/cached_vector.h"
#include "core/ops/map.h"

namespace lamina {

namespace {

// Fixed pieces, summed in a fixed order: the same result for every number of threads. In double, because the
// squares of a hundred million small numbers are added up.
constexpr size_t summed_at_once = 65536;

/// The sum of the squares, of which each piece is computed in real: infinity or 0 where its range is
/// exceeded.
double sum_of_squares(std::span<const real> values) {
  double total = 0;
  for (size_t begin = 0; begin < values.size(); begin += summed_at_once) {
    const auto part = values.subspan(begin, std::min(summed_at_once, values.size() - begin));
    total += static_cast<double>(sum_over(part.size(), [x = part.data()](size_t i) { return x[i] * x[i]; }));
  }
  return total;
}

/// norm2, which may exceed the range of real. Where squares overflow or underflow, they are recomputed from
/// numbers scaled to at most 1.
double norm_of(std::span<const real> values) {
  const double total = sum_of_squares(values);
  constexpr auto least = static_cast<double>(std::numeric_limits<real>::min()) * 1e10;
  if ((total >= least && std::isfinite(total)) || std::isnan(total)) return std::sqrt(total);
  double largest = 0, scaled = 0;
  for (const real value : values) largest = std::max(largest, std::fabs(static_cast<double>(value)));
  if (largest == 0 || std::isinf(largest)) return largest;
  for (const real value : values) {
    const double part = static_cast<double>(value) / largest;
    scaled += part * part;
  }
  return largest * std::sqrt(scaled);
}

/// norm2 of two parts together. One part alone keeps its norm to the last bit.
double joined_norm(double one, double other) { return one == 0 ? other : std::hypot(one, other); }

void require_limit(real limit) {
  if (!(limit > 0)) fail("clip: the limit is ", limit, "; it must be positive");
}

/// A single NaN or infinity would spoil every weight.
void require_finite(const Parameters& parameters) {
  for (const Parameters::Entry& entry : parameters.learned())
    for (size_t i = 0; entry.value.gradient_data() != nullptr && i < entry.value.size(); ++i)
      if (const real g = entry.value.gradient_data()[i]; !std::isfinite(g))
        fail<NotFinite>("clip: the gradient of '", entry.name, "' has a value of ", g,
                        "; lower the learning rate, or look for such values in the data");
}

/// Of finite gradients: those of doubles can have one beyond the range of double, and would be scaled to nothing.
void require_norm(double norm) {
  if (!std::isfinite(norm))
    fail<NotFinite>("clip: the gradients' norm is beyond ", std::numeric_limits<double>::max(),
                    "; lower the learning rate, or look for such values in the data");
}

void multiply(std::span<real> gradients, double factor) {
  if (factor == 1) return;
  real* const g = gradients.data();
  if (const auto scale = static_cast<real>(factor); scale >= std::numeric_limits<real>::min())
    for_each_index(gradients.size(), [=](size_t i) { g[i] *= scale; });
  else  // the factor would underflow as a real, its products need not
    for_each_index(gradients.size(),
                   [=](size_t i) { g[i] = static_cast<real>(static_cast<double>(g[i]) * factor); });
}

/// All gradients, and the ranges of those that are trained.
struct Gradients {
  explicit Gradients(Parameters& parameters)
      : all(parameters.gradients_to_scale()), trained(parameters.trained()) {}

  std::span<real> all;
  std::span<const Range> trained;  ///< one range where nothing is frozen

  /// norm2 of all gradients that are trained.
  double norm() const {
    double total = 0;
    for (const Range& range : trained)
      total = joined_norm(total, norm_of(all.subspan(range.begin, range.size())));
    return total;
  }

  void scale(double factor) const {
    for (const Range& range : trained) multiply(all.subspan(range.begin, range.size()), factor);
  }
};

}  // namespace

real gradient_norm(Parameters& parameters) { return static_cast<real>(Gradients(parameters).norm()); }

real clip_gradient_norm(Parameters& parameters, real limit, real times) {
  const std::reference_wrapper<Parameters> one(parameters);
  return clip_gradient_norm(std::initializer_list<std::reference_wrapper<Parameters>>{one}, limit, times);
}

real clip_gradient_norm(std::initializer_list<std::reference_wrapper<Parameters>> all, real limit,
                        real times) {
  require_limit(limit);
  if (!(times >= 0) || !std::isfinite(times))
    fail("clip: times is ", times, "; a finite number from 0 on is needed");
  CachedVector<Gradients> gradients;
  double own = 0;
  for (const auto* each = all.begin(); each != all.end(); ++each) {
    Parameters& parameters = *each;
    if (std::any_of(all.begin(), each, [&](Parameters& before) { return &before == &parameters; }))
      fail("clip: the same parameters are named twice, and would be scaled twice; name each once");
    const double norm = gradients.emplace_back(parameters).norm();
    if (!std::isfinite(norm)) require_finite(parameters);
    own = joined_norm(own, norm);
  }
  const double norm = static_cast<double>(times) * own, bound = static_cast<double>(limit);
  require_norm(norm);
  const double factor = static_cast<double>(times) * (norm > bound ? bound / norm : 1);
  for (const Gradients& each : gradients) each.scale(factor);
  return static_cast<real>(norm);
}

namespace {

/// Some columns of a gradient [rows x columns]; all of them are one row.
struct Columns {
  std::span<real> row(size_t r) const { return all.subspan(r * columns + begin, end - begin); }

  double norm() const {
    double total = 0;
    for (size_t r = 0; r < rows; ++r) total = joined_norm(total, norm_of(row(r)));
    return total;
  }

  std::span<real> all;
  size_t rows, columns, begin, end;
};

/// What is clipped by itself: each gradient whole, or what is on either side of its seam.
CachedVector<Columns> parts_of(Parameters& parameters,
                               const std::function<size_t(const std::string& name)>& seam) {
  CachedVector<Columns> parts;
  const std::span<real> all = parameters.gradients_to_scale();
  for (size_t i = 0; i < parameters.learned().size(); ++i) {
    const auto& [name, value] = parameters.learned()[i];
    if (parameters.frozen(i)) continue;
    const std::span<real> own = all.subspan(parameters.offset(i), value.size());
    const size_t at = seam ? seam(name) : 0, columns = at == 0 ? own.size() : value.shape()[-1],
                 rows = own.size() / columns;
    if (at >= columns) fail("clip: a seam at column ", at, " of '", name, "', which has ", columns);
    if (at > 0) parts.push_back({own, rows, columns, 0, at});
    parts.push_back({own, rows, columns, at, columns});
  }
  return parts;
}

}  // namespace

void clip_each_gradient_norm(Parameters& parameters, real limit,
                             const std::function<size_t(const std::string& name)>& seam) {
  require_limit(limit);
  const CachedVector<Columns> parts = parts_of(parameters, seam);
  CachedVector<double> norms;
  for (const Columns& part : parts) {
    norms.push_back(part.norm());
    if (!std::isfinite(norms.back())) require_finite(parameters);
    require_norm(norms.back());
  }
  const auto bound = static_cast<double>(limit);
  for (size_t i = 0; i < parts.size(); ++i)
    if (norms[i] > bound)
      for (size_t r = 0; r < parts[i].rows; ++r) multiply(parts[i].row(r), bound / norms[i]);
}

}  // namespace lamina
