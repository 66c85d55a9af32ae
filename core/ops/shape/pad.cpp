#include <algorithm>
#include <array>

#include "core/ops/map.h"
#include "core/ops/shape/structure.h"

namespace lamina {

namespace {

/// Where the rows of a tensor lie in the padded one: four axes, with axes of size 1 added in front.
struct Placement {
  std::array<size_t, Shape::max_rank> sizes{1, 1, 1, 1}, low{}, padded{1, 1, 1, 1};

  Placement(const Shape& shape, std::span<const AxisPadding> padding) {
    const size_t missing = sizes.size() - padding.size();
    for (size_t i = 0; i < padding.size(); ++i) {
      sizes[missing + i] = shape[static_cast<int>(i)];
      low[missing + i] = padding[i].low;
      padded[missing + i] = padding[i].low + sizes[missing + i] + padding[i].high;
    }
  }

  /// row(place in the tensor, place in the padded one) for each row
  template <class Row>
  void for_each_row(const Row& row) const {
    const size_t rows = sizes[0] * sizes[1] * sizes[2], length = sizes[3];
    parallel_for(rows, grain_of(length), [&](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r) {
        const size_t i2 = r % sizes[2] + low[2], i1 = r / sizes[2] % sizes[1] + low[1],
                     i0 = r / sizes[2] / sizes[1] + low[0];
        row(r * length, ((i0 * padded[1] + i1) * padded[2] + i2) * padded[3] + low[3]);
      }
    });
  }
};

}  // namespace

/// y = x in the middle and the value around it;  dx = the middle of dy
Tensor pad(const Tensor& x, std::span<const AxisPadding> padding, real value) {
  require_values("pad", x);
  const int rank = x.shape().rank();
  if (padding.size() != static_cast<size_t>(rank))
    fail("pad: ", padding.size(), " paddings for ", x.shape(), "; one an axis is needed");
  for (const auto& [low, high] : padding)
    if (low > Shape::max_size || high > Shape::max_size)
      fail("pad: ", low, " and ", high, " values around an axis of ", x.shape(), " are too many");
  const Placement placement(x.shape(), padding);
  Shape shape = x.shape();
  for (int i = 0; i < rank; ++i)
    shape = shape.with(i, placement.padded[Shape::max_rank - static_cast<size_t>(rank - i)]);
  Tensor y = generate(shape, [value](size_t) { return value; });
  const size_t length = placement.sizes[3];
  placement.for_each_row([=, from = x.data(), to = y.data()](size_t in, size_t out) {
    std::copy_n(from + in, length, to + out);
  });
  return record("pad", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    placement.for_each_row([=, dx = sink.values, dy = y.gradient_data()](size_t in, size_t out) {
#pragma omp simd
      for (size_t i = 0; i < length; ++i) dx[in + i] = (sink.add ? dx[in + i] : 0) + dy[out + i];
    });
  });
}

Tensor pad(const Tensor& x, std::initializer_list<AxisPadding> padding, real value) {
  return pad(x, std::span<const AxisPadding>(padding.begin(), padding.size()), value);
}

}  // namespace lamina
