#include "layers/map_norm.h"

#include <algorithm>

#include "core/ops/layout.h"
#include "core/ops/pool_rows.h"
#include "core/sum.h"
#include "core/workspace.h"

namespace lamina::map_norm {

namespace {

// Purposes of scratch memory.
struct RowsOfMap;
struct Upstream;

/// The numbers of the channels, once for every column.
void repeat(const real* channel, const Map& map, real* row) {
  for (size_t j = 0; j < map.width; ++j) std::copy_n(channel, map.channels, row + j * map.channels);
}

/// into_c = sum over the columns [begin, end) of a row
void fold(const real* row, const Map& map, size_t begin, size_t end, real* into) {
  column_sums(end - begin, 0, map.channels, into, [&, first = row + begin * map.channels](size_t j) {
    return [column = first + j * map.channels](size_t c) { return column[c]; };
  });
}

/// Mean, inverse deviation, gain and bias along a row of the image.
class Rows {
 public:
  /// Takes `extra` further rows of scratch memory, at spare().
  Rows(const Map& map, const Statistics& s, const Affine& affine, size_t extra)
      : map_(map), affine_(affine), memory_(scratch<RowsOfMap>((4 + extra) * map.row())) {
    repeat(s.mean, map, memory_);
    repeat(s.inverse_deviation, map, memory_ + map.row());
    if (map.per_unit) return;
    repeat(affine.gain, map, memory_ + 2 * map.row());
    if (affine.bias != nullptr) repeat(affine.bias, map, memory_ + 3 * map.row());
  }
  const real* mean() const { return memory_; }
  const real* inverse() const { return memory_ + map_.row(); }
  const real* gain(size_t h) const {
    return map_.per_unit ? affine_.gain + h * map_.row() : memory_ + 2 * map_.row();
  }
  const real* bias(size_t h) const {
    return map_.per_unit ? affine_.bias + h * map_.row() : memory_ + 3 * map_.row();
  }
  real* spare() const { return memory_ + 4 * map_.row(); }

  /// y = n gain + bias for rows [h, h + count)
  void normalize(const real* a, size_t h, size_t count, real* y) const {
    const size_t row = map_.row();
    for (size_t k = 0; k < count; ++k)
      column_norm::apply(a + (h + k) * row, {mean(), inverse()}, gain(h + k), bias(h + k), 0, row,
                         y + k * row);
  }

 private:
  const Map& map_;
  Affine affine_;
  real* memory_;
};

bool nothing_follows(const Map& map) { return !map.then.relu && map.then.window == 1; }

}  // namespace

Map map_of(const char* op, const Tensor& a, const Tensor& gain, const Tensor& bias, size_t border,
           const ReluPool& then) {
  const Shape& s = a.shape();
  if (s.rank() != 4 && s.rank() != 2)
    fail(op, ": maps [N x height x width x channels] or a matrix are needed, this is ", s);
  Map map = {.images = s[0],
             .height = s.rank() == 4 ? s[1] : 1,
             .width = s.rank() == 4 ? s[2] : 1,
             .channels = s[-1],
             .border = border,
             .then = then};
  const Shape unit = {map.height, map.width, map.channels};
  if (map.area() == 0) fail(op, ": ", s, " has nothing to normalize");
  if (gain.shape() != bias.shape() || (gain.shape() != Shape{map.channels} && gain.shape() != unit))
    fail(op, ": input ", s, ", gain ", gain.shape(), ", bias ", bias.shape(), "; both must be [",
         map.channels, "] or both ", unit, layout_hint(s, gain.columns()));
  if (2 * border >= std::min(map.height, map.width))
    fail(op, ": a border of ", border, " leaves nothing of maps ", s);
  if (then.window == 0 || then.window > std::min(map.height, map.width))
    fail(op, ": the window ", then.window, " x ", then.window, " does not fit into maps ", s);
  map.per_unit = gain.shape().rank() == 3;
  return map;
}

Shape out_shape(const Map& map, const Tensor& a) { return a.shape().rank() == 2 ? a.shape() : map.out(); }

/// Distances from the first number of the channel lose no digits to a mean that is far from zero.
void moments(const Map& map, const real* a, real* mean, real* spread, real* rest) {
  real *const sum = scratch<RowsOfMap>(3 * map.row()), *const center = sum + map.row();
  const size_t row = map.row(), first = map.border, height = map.height - 2 * first;
  const auto count = static_cast<real>(map.positions());
  const real* const start = a + (first * map.width + first) * map.channels;
  // into_c = mean of then(a - from_c)
  const auto mean_distance = [&](const real* from, real* into, const auto& then) {
    repeat(from, map, center);
    column_sums(height, 0, row, sum, [=](size_t h) {
      return [=, from_row = a + (first + h) * row](size_t i) { return then(from_row[i] - center[i]); };
    });
    fold(sum, map, first, map.width - first, into);
    for (size_t c = 0; c < map.channels; ++c) into[c] /= count;
  };
  mean_distance(start, mean, [](real distance) { return distance; });
  for (size_t c = 0; c < map.channels; ++c) mean[c] += start[c];
  if (rest == nullptr) return mean_distance(mean, spread, [](real distance) { return distance * distance; });
  repeat(mean, map, center);
  real* const squares = center + row;
  two_column_sums(height, 0, row, sum, squares, [=](size_t h) {
    return [=, from_row = a + (first + h) * row](size_t i) {
      const real distance = from_row[i] - center[i];
      return Pair{distance, distance * distance};
    };
  });
  fold(sum, map, first, map.width - first, rest);
  fold(squares, map, first, map.width - first, spread);
  for (size_t c = 0; c < map.channels; ++c) {
    rest[c] /= count;
    spread[c] = spread[c] / count - rest[c] * rest[c];
  }
}

void normalize(const Map& map, const real* a, const Statistics& s, const Affine& affine, real* y) {
  const size_t window = map.then.window, out_row = map.width / window * map.channels;
  const Rows rows(map, s, affine, window);
  for (size_t i = 0; i < map.height / window; ++i) {
    real* const out = y + i * out_row;
    if (nothing_follows(map)) {
      rows.normalize(a, i, 1, out);
      continue;
    }
    rows.normalize(a, i * window, window, rows.spare());
    pool_rows::forward(rows.spare(), map.width, map.channels, map.then, out);
  }
}

const real* upstream(const Map& map, const real* a, const Statistics& s, const Affine& affine,
                     const real* dy) {
  if (nothing_follows(map)) return dy;
  real* const u = scratch<Upstream>(map.area());
  const size_t window = map.then.window, out_row = map.width / window * map.channels;
  const size_t covered = map.height / window * window;
  const Rows rows(map, s, affine, window);
  for (size_t i = 0; i < map.height / window; ++i) {
    rows.normalize(a, i * window, window, rows.spare());
    pool_rows::backward(rows.spare(), map.width, map.channels, map.then, dy + i * out_row,
                        u + i * window * map.row());
  }
  std::fill_n(u + covered * map.row(), (map.height - covered) * map.row(), real{0});
  return u;
}

void sum_derivatives(const Map& map, const real* a, const Statistics& s, const real* u, const real* gain,
                     real* dgain, real* dbias, real* level, real* along) {
  const size_t row = map.row();
  const Rows rows(map, s, {gain, nullptr}, 2);
  const real *const mean = rows.mean(), *const inverse = rows.inverse();
  real *const sum = rows.spare(), *const sum_along = sum + row;
  if (map.per_unit) {
    std::fill_n(sum, 2 * row, real{0});
    for (size_t h = 0; h < map.height; ++h)
#pragma omp simd
      for (size_t i = 0; i < row; ++i) {
        const size_t k = h * row + i;
        const real n = (a[k] - mean[i]) * inverse[i];
        dgain[k] += u[k] * n;
        dbias[k] += u[k];
        sum[i] += u[k] * gain[k];
        sum_along[i] += u[k] * gain[k] * n;
      }
    fold(sum, map, 0, map.width, level);
    fold(sum_along, map, 0, map.width, along);
    return;
  }
  column_norm::sum_derivatives({.rows = map.height, .width = row, .values = a}, u, {mean, inverse}, 0, row,
                               sum, sum_along);
  fold(sum, map, 0, map.width, level);
  fold(sum_along, map, 0, map.width, along);
  for (size_t c = 0; c < map.channels; ++c) {
    dgain[c] += along[c];
    dbias[c] += level[c];
    level[c] *= gain[c];
    along[c] *= gain[c];
  }
}

void input_derivative(const Map& map, const real* a, const Statistics& s, const real* u, const real* gain,
                      const Means& means, real* da, bool add) {
  // One number that is its own mean, and nothing else that the mean enters: exactly 0, not what rounding leaves of it.
  if (means.members == 1 && map.border == 0) {
    if (!add) std::fill_n(da, map.area(), real{0});
    return;
  }
  const size_t row = map.row(), edge = map.border * map.channels;
  const Rows rows(map, s, {gain, nullptr}, 3);
  const real *const mean = rows.mean(), *const inverse = rows.inverse();
  real *const level_row = rows.spare(), *const along_row = level_row + row, *const zeros = along_row + row;
  repeat(means.level, map, level_row);
  repeat(means.along, map, along_row);
  std::fill_n(zeros, row, real{0});
  for (real* const each : {level_row, along_row}) {
    std::fill_n(each, edge, real{0});
    std::fill_n(each + row - edge, edge, real{0});
  }
  for (size_t h = 0; h < map.height; ++h) {
    const bool inside = h >= map.border && h < map.height - map.border;
    const real *const l = inside ? level_row : zeros, *const m = inside ? along_row : zeros;
    const real* const g = rows.gain(h);
#pragma omp simd
    for (size_t i = 0; i < row; ++i) {
      const size_t k = h * row + i;
      const real n = (a[k] - mean[i]) * inverse[i];
      da[k] = (add ? da[k] : 0) + (u[k] * g[i] - l[i] - n * m[i]) * inverse[i];
    }
  }
}

}  // namespace lamina::map_norm
