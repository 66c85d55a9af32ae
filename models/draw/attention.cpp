#include "models/draw/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/math/math.h"
#include "core/simd.h"

namespace lamina::draw {

namespace {

using namespace simd;

// ---------------------------------------------------------------- products of matrices with few, padded rows

/// Element (i, p) is at data[i * row + p * column]: a matrix, or its transpose.
struct View {
  const real* data;
  size_t row, column;
};

constexpr size_t block = Attention::block, block_vectors = block / lanes;

/// c[n x width] = a[n x m] b[m x width] (+ c)
template <bool accumulate = false>
void multiply(size_t n, size_t m, const View& a, const real* b, real* c, size_t width) {
  for (size_t x = 0; x < width; x += block)
    for (size_t i = 0; i < n; ++i) {
      real* const to = c + i * width + x;
      vec sums[block_vectors];
      for (size_t v = 0; v < block_vectors; ++v) sums[v] = accumulate ? load(to + v * lanes) : vec{};
      for (size_t p = 0; p < m; ++p) {
        const vec factor = splat(a.data[i * a.row + p * a.column]);
        for (size_t v = 0; v < block_vectors; ++v) sums[v] += factor * load(b + p * width + x + v * lanes);
      }
      for (size_t v = 0; v < block_vectors; ++v) store(to + v * lanes, sums[v]);
    }
}

/// The sum over the lanes of the products of two rows, before the lanes are added.
vec unfinished_dot(const real* a, const real* b, size_t width) {
  vec sum{};
  for (size_t x = 0; x < width; x += block)
    for (size_t v = 0; v < block_vectors; ++v) sum += load(a + x + v * lanes) * load(b + x + v * lanes);
  return sum;
}

/// c[n x m] = a[n x width] b[m x width]^T, its rows padded with zeros to `width`
void multiply_transposed(size_t n, size_t m, const real* a, const real* b, real* c, size_t width) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < width; j += lanes) {
      if (j >= m) {
        store(c + i * width + j, vec{});
        continue;
      }
      vec sums[lanes] = {};
      for (size_t k = 0; k < std::min<size_t>(lanes, m - j); ++k)
        sums[k] = unfinished_dot(a + i * width, b + (j + k) * width, width);
      store(c + i * width + j, sum_lanes(sums));
    }
}

/// The first `size` of `rows` rows that lie `width` apart, times `factor`, one after another.
void copy_patch(size_t rows, size_t size, const real* from, size_t width, real factor, real* to) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < size; ++j) to[i * size + j] = factor * from[i * width + j];
}

real number(size_t value) { return static_cast<real>(static_cast<int>(value)); }

/// The positions of the filters along both axes.
struct Grid {
  Grid(const Attention& attention, const real* focus)
      : middle(number(attention.points) / 2 - real(0.5)),
        last(number(attention.side)),
        centre{(last + 1) / 2 * (focus[0] + 1), (last + 1) / 2 * (focus[1] + 1)},
        stride((last - 1) / number(std::max<size_t>(attention.points - 1, 1)) * scalar::exp(focus[3])),
        // At the largest number a filter covers a single pixel anyway; infinity times 0 would be NaN.
        half_precision(std::min(scalar::exp(-focus[2]) / 2, std::numeric_limits<real>::max())) {}

  real offset(size_t i) const { return number(i) - middle; }
  real mean(size_t axis, size_t i) const { return centre[axis] + offset(i) * stride; }

  real middle, last;
  std::array<real, 2> centre;
  real stride, half_precision;
};

}  // namespace

Frame frame_of(const Attention& attention, const real* focus) {
  const Grid grid(attention, focus);
  return {.centre_x = static_cast<double>(grid.centre[0]) - 1,
          .centre_y = static_cast<double>(grid.centre[1]) - 1,
          .stride = static_cast<double>(grid.stride),
          .deviation = std::exp(static_cast<double>(focus[2]) / 2)};
}

/// The squared distance from mu_i to the nearest pixel is subtracted from every exponent, as the difference
/// of two squares n^2 - d^2 = (n - d)(n + d): one filter value is then e^0 exactly, and Z_i cannot be 0,
/// wherever the grid is and however narrow the filter.
void make_filters(const Attention& attention, const real* focus, real* filters) {
  const Grid grid(attention, focus);
  const size_t side = attention.side, width = attention.width();
  for (const size_t axis : {size_t{0}, size_t{1}})
    for (size_t i = 0; i < attention.points; ++i, filters += width) {
      const real mean = grid.mean(axis, i), scale = grid.half_precision;
      const real nearest = std::clamp(std::nearbyint(mean), real{1}, grid.last) - mean;
      real total = 0;
      for (size_t x = 0; x < width; x += block)
#pragma omp simd reduction(+ : total)
        for (size_t a = x; a < x + block; ++a) {
          const real distance = number(a + 1) - mean;
          const real value = scalar::exp((nearest - distance) * (nearest + distance) * scale);
          filters[a] = a < side ? value : real{0};
          total += filters[a];
        }
      const real factor = 1 / total;
      for (size_t x = 0; x < width; x += block)
#pragma omp simd
        for (size_t a = x; a < x + block; ++a) filters[a] *= factor;
    }
}

/// With l = -(a - mu)^2 / (2 sigma^2) and F = softmax(l):   dl = F (dF - sum(F dF)),
///   dmu = sum dl (a - mu) / sigma^2,   dfocus_2 = sum dl (a - mu)^2 / (2 sigma^2)
void make_filters_backward(const Attention& attention, const real* focus, const real* filters,
                           const real* dfilters, real* dfocus) {
  const Grid grid(attention, focus);
  const size_t width = attention.width();
  std::array<real, 2> dcentre{};
  real dstride = 0, dlog_variance = 0;
  for (const size_t axis : {size_t{0}, size_t{1}})
    for (size_t i = 0; i < attention.points; ++i, filters += width, dfilters += width) {
      const real mean = grid.mean(axis, i), scale = grid.half_precision;
      real level = 0, first = 0, second = 0;
      for (size_t x = 0; x < width; x += block)
#pragma omp simd reduction(+ : level)
        for (size_t a = x; a < x + block; ++a) level += filters[a] * dfilters[a];
      for (size_t x = 0; x < width; x += block)
#pragma omp simd reduction(+ : first, second)
        for (size_t a = x; a < x + block; ++a) {
          const real distance = number(a + 1) - mean;
          const real dl = filters[a] * (dfilters[a] - level) * scale;
          first += dl * distance;
          second += dl * distance * distance;
        }
      dcentre[axis] += 2 * first;
      dstride += 2 * first * grid.offset(i);
      dlog_variance += second;
    }
  for (const size_t axis : {size_t{0}, size_t{1}}) dfocus[axis] = dcentre[axis] * (grid.last + 1) / 2;
  dfocus[2] = dlog_variance;
  dfocus[3] = dstride * grid.stride;
}

/// error = x - sigmoid(canvas);   patch = gamma F_Y [image, error] F_X^T
void read_forward(const Attention& attention, const ReadCase& read, const real* canvas, real* scratch) {
  const size_t side = attention.side, width = attention.width(), points = attention.points;
  const real *const filter_x = read.filters, *const filter_y = filter_x + points * width;
  const real* const image = read.image;
  real* const error = read.error;
#pragma omp simd
  for (size_t i = 0; i < attention.image_size(); ++i) error[i] = image[i] - scalar::sigmoid(canvas[i]);
  const real gamma = scalar::exp(read.focus[4]);
  real *const seen = scratch, *const patch = seen + 2 * points * width;
  multiply(points, side, {filter_y, width, 1}, image, seen, width);
  multiply(points, side, {filter_y, width, 1}, error, seen + points * width, width);
  multiply_transposed(2 * points, points, seen, filter_x, patch, width);
  copy_patch(2 * points, points, patch, width, gamma, read.patch);
}

/// With P the patch, Q = F_Y [image, error] and dQ = gamma dP F_X:
///   dF_X = gamma dP^T Q,  dF_Y = dQ [image, error]^T,  dfocus_4 = sum dP P,
///   dcanvas -= F_Y^T dQ s (1 - s)  with s = sigmoid(canvas) = image - error
void read_backward(const Attention& attention, const ReadCase& read, const real* dpatch, real* dfocus,
                   real* dcanvas, real* scratch) {
  const size_t side = attention.side, width = attention.width(), points = attention.points,
               bank = points * width;
  const real *const filter_x = read.filters, *const filter_y = filter_x + bank;
  real *const seen = scratch, *const dseen = seen + 2 * bank, *const dfilters = dseen + 2 * bank,
              *const derror = dfilters + 2 * bank, *const scaled = derror + attention.image_size();
  const real gamma = scalar::exp(read.focus[4]);
  real dgamma = 0;
  for (size_t k = 0; k < 2 * points * points; ++k) {
    dgamma += dpatch[k] * read.patch[k];
    scaled[k] = gamma * dpatch[k];
  }
  multiply(points, side, {filter_y, width, 1}, read.image, seen, width);
  multiply(points, side, {filter_y, width, 1}, read.error, seen + bank, width);
  multiply(2 * points, points, {scaled, points, 1}, filter_x, dseen, width);
  multiply(points, 2 * points, {scaled, 1, points}, seen, dfilters, width);
  multiply_transposed(points, side, dseen, read.image, dfilters + bank, width);
  multiply_transposed(points, side, dseen + bank, read.error, seen, width);
  for (size_t k = 0; k < bank; ++k) dfilters[bank + k] += seen[k];
  make_filters_backward(attention, read.focus, read.filters, dfilters, dfocus);
  dfocus[4] = dgamma;

  multiply(side, points, {filter_y, 1, width}, dseen + bank, derror, width);
  const real *const image = read.image, *const error = read.error;
#pragma omp simd
  for (size_t i = 0; i < attention.image_size(); ++i) {
    const real s = image[i] - error[i];
    dcanvas[i] -= derror[i] * s * (1 - s);
  }
}

/// canvas += F_Y^T (patch / gamma) F_X
void write_forward(const Attention& attention, const WriteCase& write, real* canvas, real* scratch) {
  const size_t width = attention.width(), points = attention.points;
  const real *const filter_x = write.filters, *const filter_y = filter_x + points * width;
  const real inverse = 1 / scalar::exp(write.focus[4]);
  real *const stripes = scratch, *const scaled = stripes + points * width;
  copy_patch(1, points * points, write.patch, 0, inverse, scaled);
  multiply(points, points, {scaled, points, 1}, filter_x, stripes, width);
  multiply<true>(attention.side, points, {filter_y, 1, width}, stripes, canvas, width);
}

/// With W = patch / gamma, S = W F_X and dS = F_Y dC:   dW = dS F_X^T,  dF_X = W^T dS,  dF_Y = S dC^T,
///   dpatch = dW / gamma,  dfocus_4 = -sum dW W
void write_backward(const Attention& attention, const WriteCase& write, const real* dcanvas, real* dfocus,
                    real* dpatch, real* scratch) {
  const size_t side = attention.side, width = attention.width(), points = attention.points,
               bank = points * width;
  const real *const filter_x = write.filters, *const filter_y = filter_x + bank;
  const real inverse = 1 / scalar::exp(write.focus[4]);
  real *const stripes = scratch, *const dstripes = stripes + bank, *const dfilters = dstripes + bank,
              *const dscaled = dfilters + 2 * bank, *const scaled = dscaled + bank;
  copy_patch(1, points * points, write.patch, 0, inverse, scaled);
  multiply(points, points, {scaled, points, 1}, filter_x, stripes, width);
  multiply(points, side, {filter_y, width, 1}, dcanvas, dstripes, width);
  multiply_transposed(points, points, dstripes, filter_x, dscaled, width);
  multiply(points, points, {scaled, 1, points}, dstripes, dfilters, width);
  multiply_transposed(points, side, stripes, dcanvas, dfilters + bank, width);
  real dgamma = 0;
  for (size_t i = 0; i < points; ++i)
    for (size_t j = 0; j < points; ++j) dgamma -= dscaled[i * width + j] * scaled[i * points + j];
  make_filters_backward(attention, write.focus, write.filters, dfilters, dfocus);
  dfocus[4] = dgamma;
  copy_patch(points, points, dscaled, width, inverse, dpatch);
}

}  // namespace lamina::draw
