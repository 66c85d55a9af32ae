#include "models/order_embedding/loss.h"

#include <algorithm>
#include <vector>

#include "core/ops.h"
#include "core/ops/map.h"
#include "core/simd.h"

namespace lamina::order_embedding {

namespace {

using simd::lanes;
using simd::load;
using simd::load_first;
using simd::store;
using simd::vec;

constexpr size_t step = lanes;

/// max(0, x), where a NaN stays one.
vec positive(vec x) { return vec{} > x ? vec{} : x; }

real sum(vec x) {
  real total = 0;
  for (size_t lane = 0; lane < step; ++lane) total += x[lane];
  return total;
}

constexpr size_t tile = 4;            // images and captions per tile: each load is used four times
constexpr size_t caption_block = 64;  // captions that stay in cache while all images are processed

/// Scores of up to 4 images with up to 4 captions. Where there are fewer, the last one is repeated.
struct Tile {
  const real *images[tile], *captions[tile];
  vec sums[tile][tile] = {};

  Tile(const real* first_image, size_t image_count, const real* first_caption, size_t caption_count,
       size_t width) {
    for (size_t i = 0; i < tile; ++i) {
      images[i] = first_image + std::min(i, image_count - 1) * width;
      captions[i] = first_caption + std::min(i, caption_count - 1) * width;
    }
  }

  template <class Load>
  void add(const Load& load_at) {
    vec s[tile];
    for (size_t j = 0; j < tile; ++j) s[j] = load_at(captions[j]);
#pragma GCC unroll 4
    for (size_t i = 0; i < tile; ++i) {
      const vec im = load_at(images[i]);
#pragma GCC unroll 4
      for (size_t j = 0; j < tile; ++j) {
        const vec above = positive(s[j] - im);
        sums[i][j] += above * above;
      }
    }
  }

  void add_all(size_t width) {
    size_t d = 0;
    for (; d + step <= width; d += step) add([d](const real* p) { return load(p + d); });
    if (d < width) add([=](const real* p) { return load_first(p + d, width - d); });
  }
};

/// Scores of the images [begin, end) with all captions.
void score_rows(const real* images, size_t begin, size_t end, const real* captions, size_t count,
                size_t width, real* scores) {
  for (size_t block = 0; block < count; block += caption_block) {
    const size_t block_end = std::min(count, block + caption_block);
    for (size_t i = begin; i < end; i += tile)
      for (size_t j = block; j < block_end; j += tile) {
        const size_t rows = std::min(tile, end - i), columns = std::min(tile, block_end - j);
        Tile of(images + i * width, rows, captions + j * width, columns, width);
        of.add_all(width);
        for (size_t r = 0; r < rows; ++r)
          for (size_t c = 0; c < columns; ++c) scores[(i + r) * count + j + c] = -sum(of.sums[r][c]);
      }
  }
}

/// For one point: dx (+)= factor * sum over the others of weight * max(0, caption - image), where the point
/// is the caption or the image of each pair. Pairs of weight 0 are skipped: late in training nearly all of
/// them are.
template <bool is_caption>
void pull(const real* x, const real* others, size_t count, const real* weights, size_t weight_stride,
          size_t width, real factor, real* dx, bool add) {
  constexpr size_t held = 8;  // vectors of the point whose sums stay in registers
  const auto above = [](vec own, vec other) { return positive(is_caption ? own - other : other - own); };
  size_t d = 0;
  for (; d + held * step <= width; d += held * step) {
    vec own[held], sums[held] = {};
    for (size_t v = 0; v < held; ++v) own[v] = load(x + d + v * step);
    for (size_t k = 0; k < count; ++k) {
      const real weight = weights[k * weight_stride];
      if (weight == 0) continue;
      const real* const other = others + k * width + d;
#pragma GCC unroll 8
      for (size_t v = 0; v < held; ++v) sums[v] += weight * above(own[v], load(other + v * step));
    }
    for (size_t v = 0; v < held; ++v) {
      real* const to = dx + d + v * step;
      store(to, (add ? load(to) : vec{}) + factor * sums[v]);
    }
  }
  for (; d < width; ++d) {
    real total = 0;
    for (size_t k = 0; k < count; ++k) {
      const real weight = weights[k * weight_stride], other = others[k * width + d];
      const real difference = is_caption ? x[d] - other : other - x[d];
      if (weight != 0) total += weight * (difference < 0 ? 0 : difference);
    }
    dx[d] = (add ? dx[d] : 0) + factor * total;
  }
}

void require_widths(const Tensor& images, const Tensor& captions) {
  if (images.shape().rank() != 2 || captions.shape().rank() != 2 || images.columns() != captions.columns())
    fail("order_scores: images ", images.shape(), " and captions ", captions.shape(),
         " must be matrices of the same width");
}

void require_square(const Tensor& scores) {
  if (scores.shape().rank() != 2 || scores.rows() != scores.columns())
    fail("contrastive_loss: the scores are ", scores.shape(), "; as many images as captions are needed");
}

}  // namespace

/// S_ij = -sum_d p_ijd^2 with p_ijd = max(0, s_jd - im_id);
/// ds_jd = -2 sum_i dS_ij p_ijd,  dim_id = 2 sum_j dS_ij p_ijd
Tensor order_scores(const Tensor& images, const Tensor& captions) {
  require_widths(images, captions);
  const size_t rows = images.rows(), count = captions.rows(), width = images.columns();
  const auto grain_for = [width](size_t others) { return grain_of(others * width); };
  Tensor scores({rows, count});
  parallel_for(
      rows, grain_for(count),
      [=, im = images.data(), s = captions.data(), out = scores.data()](size_t begin, size_t end) {
        score_rows(im, begin, end, s, count, width, out);
      },
      tile);
  return record("order_scores", scores, {images, captions}, [=] {
    const real *const dS = scores.gradient_data(), *const im = images.data(), *const s = captions.data();
    if (captions.needs_gradient()) {
      const GradientSink sink = captions.gradient_sink();
      parallel_for(count, grain_for(rows), [=](size_t begin, size_t end) {
        for (size_t j = begin; j < end; ++j)
          pull<true>(s + j * width, im, rows, dS + j, count, width, -2, sink.values + j * width, sink.add);
      });
    }
    if (images.needs_gradient()) {
      const GradientSink sink = images.gradient_sink();
      parallel_for(rows, grain_for(count), [=](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
          pull<false>(im + i * width, s, count, dS + i * count, 1, width, 2, sink.values + i * width,
                      sink.add);
      });
    }
  });
}

/// With the hinges a_ij = margin - S_ii + S_ij and b_ij = margin - S_jj + S_ij: each that is above 0 adds its
/// value to L, 1 to dS_ij, and -1 to dS_ii (a) or dS_jj (b).
Tensor contrastive_loss(const Tensor& scores, real margin) {
  require_square(scores);
  const size_t count = scores.rows();
  const auto excess = [count, margin](const real* S, size_t i, size_t j, size_t own) {
    return i == j ? 0 : margin - S[own * count + own] + S[i * count + j];
  };
  real total = 0;
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < count; ++j)
      for (const size_t own : {i, j}) {
        const real hinge = excess(scores.data(), i, j, own);
        total += hinge < 0 ? 0 : hinge;  // keeps NaN
      }
  const Tensor loss = Tensor::full({}, total);
  return record("contrastive_loss", loss, {scores}, [=] {
    Tensor dS = Tensor::zeros(scores.shape());
    const real weight = *loss.gradient_data();
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < count; ++j)
        for (const size_t own : {i, j}) {
          if (!(excess(scores.data(), i, j, own) > 0)) continue;
          dS[i * count + j] += weight;
          dS[own * count + own] -= weight;
        }
    contribute(scores, [d = dS.data()](size_t i) { return d[i]; });
  });
}

/// One image at a time, as a row that every caption is compared with.
Tensor composed::order_scores(const Tensor& images, const Tensor& captions) {
  require_widths(images, captions);
  std::vector<Tensor> columns;
  columns.reserve(images.rows());
  for (size_t i = 0; i < images.rows(); ++i)
    columns.push_back(-sum_columns(square(relu(captions - images.step(i)))));
  return transpose(concatenate(columns, 1));
}

Tensor composed::contrastive_loss(const Tensor& scores, real margin) {
  require_square(scores);
  const size_t count = scores.rows();
  Tensor pairs = Tensor::zeros(scores.shape());
  for (size_t i = 0; i < count; ++i) pairs[i * count + i] = 1;
  const Tensor own = sum_columns(scores * pairs);  // S_ii as a column, and as a row
  const Tensor hinges = relu(scores - own + margin) + relu(scores - own.reshape({count}) + margin);
  return lamina::sum(hinges * (1 - pairs));
}

}  // namespace lamina::order_embedding
