#include "layers/attention/positions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ops.h"
#include "core/ops/map.h"

namespace lamina {

const char* name_of(Positions positions) {
  return std::ranges::find(positions_table, positions, &PositionsEntry::positions)->name;
}

std::optional<Positions> positions_named(std::string_view name) {
  for (const PositionsEntry& entry : positions_table)
    if (name == entry.name) return entry.positions;
  return std::nullopt;
}

namespace {

/// The angle of pair i at a position, in double: positions may be many turns.
double angle(size_t position, size_t pair, size_t width) {
  return static_cast<double>(position) *
         std::pow(10000.0, -2 * static_cast<double>(pair) / static_cast<double>(width));
}

/// Goes with its thread. The destructor of a static object, which may compute even later, gets another one, which stays.
Tensor& table_of_thread() {
  static constinit thread_local Tensor* table = nullptr;
  struct Release {
    ~Release() { delete std::exchange(table, nullptr); }
  };
  static thread_local const Release at_end;
  if (table == nullptr) table = new Tensor;
  return *table;
}

/// The cosine and the sine of each pair at each position from 0 on: [positions x d / 2 x 2]. The last table of a
/// thread stays, because sines take longer than all the rest: layers of one model share it.
Tensor turns(size_t positions, size_t d) {
  Tensor& table = table_of_thread();
  if (table.defined() && table.shape()[1] == d / 2 && table.shape()[0] >= positions) return table;
  const bool grows = table.defined() && table.shape()[1] == d / 2;
  const size_t rows = grows ? std::max(positions, 2 * table.shape()[0]) : positions;
  table = Tensor({rows, d / 2, 2});
  real* to = table.data();
  for (size_t position = 0; position < rows; ++position)
    for (size_t pair = 0; pair < d / 2; ++pair) {
      *to++ = static_cast<real>(std::cos(angle(position, pair, d)));
      *to++ = static_cast<real>(std::sin(angle(position, pair, d)));
    }
  return table;
}

template <bool add>
void put(real& to, real value) {
  to = add ? to + value : value;
}

/// The heads of one position side by side, of which the first `turned` numbers are turned forward, or with `back` the
/// other way: the inverse of a rotation is its transpose.
template <bool back, bool add>
void turn_position(const real* turn, size_t d, size_t turned, size_t width, const real* x, real* y) {
  for (size_t head = 0; head < turned; head += d) {
#pragma omp simd
    for (size_t i = 0; i < d; i += 2) {
      const real cosine = turn[i], sine = back ? -turn[i + 1] : turn[i + 1];
      const real even = x[head + i], odd = x[head + i + 1];
      put<add>(y[head + i], even * cosine - odd * sine);
      put<add>(y[head + i + 1], even * sine + odd * cosine);
    }
  }
#pragma omp simd
  for (size_t i = turned; i < width; ++i) put<add>(y[i], x[i]);
}

template <bool back, bool add>
void turn_all(const Tensor& table, size_t first, const Shape& shape, size_t heads, const real* x, real* y) {
  const size_t length = shape[1], d = shape[3], width = shape[2] * d;
  parallel_for(shape[0] * length, grain_of(width), [=, turns = table.data()](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row)
      turn_position<back, add>(turns + (first + row % length) * d, d, heads * d, width, x + row * width,
                               y + row * width);
  });
}

/// Checks the shape; how many heads are turned.
size_t heads_to_turn(const Tensor& x, const RotateOptions& options) {
  require_values("rotate", x);
  if (x.shape().rank() != 4) fail("rotate: ", x.shape(), " must be [cases x length x heads x d]");
  const size_t heads = x.shape()[2], d = x.shape()[3];
  if (d % 2 != 0) fail("rotate: ", x.shape(), ": d is ", d, "; it must be even, because pairs are turned");
  if (options.heads > heads) fail("rotate: ", options.heads, " of the heads of ", x.shape());
  if (options.first > Shape::max_size)
    fail("rotate: the first position is ", options.first,
         ", most likely a negative number; they count from 0");
  return options.heads == 0 ? heads : options.heads;
}

}  // namespace

Tensor sinusoidal_positions(size_t length, size_t width) {
  Tensor y({length, width});
  real* to = y.data();
  for (size_t position = 0; position < length; ++position)
    for (size_t i = 0; i < width; ++i) {
      const double at = angle(position, i / 2, width);
      *to++ = static_cast<real>(i % 2 == 0 ? std::sin(at) : std::cos(at));
    }
  return y;
}

/// y = R x with a rotation R for each position;  dx = R^T dy
Tensor rotate(const Tensor& x, const RotateOptions& options) {
  const size_t heads = heads_to_turn(x, options), first = options.first;
  const Tensor table = turns(first + x.shape()[1], x.shape()[3]);
  Tensor y(x.shape());
  turn_all<false, false>(table, first, x.shape(), heads, x.data(), y.data());
  return record("rotate", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    const auto turn_back = sink.add ? turn_all<true, true> : turn_all<true, false>;
    turn_back(table, first, x.shape(), heads, y.gradient_data(), sink.values);
  });
}

namespace composed {

Tensor rotate(const Tensor& x, const RotateOptions& options) {
  const size_t turned = heads_to_turn(x, options), cases = x.shape()[0], length = x.shape()[1],
               heads = x.shape()[2], d = x.shape()[3];
  Tensor cosines({length, d / 2, 1}), sines({length, d / 2, 1});
  for (size_t t = 0; t < length; ++t)
    for (size_t i = 0; i < d / 2; ++i) {
      cosines.at(t, i, 0) = static_cast<real>(std::cos(angle(options.first + t, i, d)));
      sines.at(t, i, 0) = static_cast<real>(std::sin(angle(options.first + t, i, d)));
    }
  std::vector<Tensor> results;
  for (size_t head = 0; head < turned; ++head) {
    const Tensor pairs = slice(x, 2, head, head + 1).reshape({cases, length, d / 2, 2});
    const Tensor even = slice(pairs, -1, 0, 1), odd = slice(pairs, -1, 1, 2);
    results.push_back(concatenate({even * cosines - odd * sines, even * sines + odd * cosines}, -1)
                          .reshape({cases, length, 1, d}));
  }
  if (turned < heads) results.push_back(slice(x, 2, turned, heads));
  return concatenate(results, 2);
}

}  // namespace composed

}  // namespace lamina
