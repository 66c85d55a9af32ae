#include "models/order_embedding/retrieval.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/threads/parallel.h"

namespace lamina::order_embedding {

namespace {

constexpr size_t grain = 64;  // searches through a thousand candidates or more

/// Not before: a NaN on either side counts against the right answer.
bool comes_before(real wrong, real right) { return !(wrong < right); }

/// For each image the captions of others that come before the best of its own.
std::vector<size_t> caption_ranks(const Tensor& scores, size_t own) {
  const size_t images = scores.rows(), captions = scores.columns();
  std::vector<size_t> ranks(images);
  parallel_for(images, grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const real *const row = scores.data() + i * captions, *const mine = row + i * own;
      const real best = *std::max_element(mine, mine + own, [](real a, real b) {
        return a < b || (std::isnan(a) && !std::isnan(b));  // NaN is the least
      });
      const auto before = [best](real score) { return comes_before(score, best); };
      ranks[i] = static_cast<size_t>(std::count_if(row, mine, before) +
                                     std::count_if(mine + own, row + captions, before));
    }
  });
  return ranks;
}

/// For each caption the images that come before its own; row by row, in storage order.
std::vector<size_t> image_ranks(const Tensor& scores, size_t own) {
  const size_t images = scores.rows(), captions = scores.columns();
  std::vector<size_t> ranks(captions);
  parallel_for(captions, grain, [&](size_t begin, size_t end) {
    const auto score = [&](size_t image, size_t caption) { return scores[image * captions + caption]; };
    for (size_t i = 0; i < images; ++i)
      for (size_t j = begin; j < end; ++j)
        ranks[j] += j / own != i && comes_before(score(i, j), score(j / own, j));
  });
  return ranks;
}

}  // namespace

Recall recall_of(std::span<const size_t> ranks) {
  const auto searches = static_cast<double>(ranks.size());
  const auto among = [&](size_t first) {
    return 100 *
           static_cast<double>(std::ranges::count_if(ranks, [=](size_t rank) { return rank < first; })) /
           searches;
  };
  const double total = std::accumulate(ranks.begin(), ranks.end(), 0.0);
  return {.at1 = among(1), .at5 = among(5), .at10 = among(10), .mean_rank = total / searches + 1};
}

Retrieval retrieval_of(const Tensor& scores, size_t per_image) {
  if (scores.shape().rank() != 2 || scores.rows() == 0 || per_image == 0 ||
      scores.columns() != scores.rows() * per_image)
    fail("retrieval: scores ", scores.shape(), " with ", per_image,
         " captions an image; [N x N times that] is needed");
  return {.caption = recall_of(caption_ranks(scores, per_image)),
          .image = recall_of(image_ranks(scores, per_image))};
}

Retrieval mean_of(std::span<const Retrieval> all) {
  Retrieval mean;
  const double share = 1 / static_cast<double>(all.size());
  const auto add = [share](Recall& to, const Recall& from) {
    to.at1 += share * from.at1;
    to.at5 += share * from.at5;
    to.at10 += share * from.at10;
    to.mean_rank += share * from.mean_rank;
  };
  for (const Retrieval& one : all) {
    add(mean.caption, one.caption);
    add(mean.image, one.image);
  }
  return mean;
}

}  // namespace lamina::order_embedding
