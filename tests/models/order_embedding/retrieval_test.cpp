// R@K and mean rank, by hand.

#include "models/order_embedding/retrieval.h"

#include <limits>

#include "core/threads/parallel.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::order_embedding;

namespace {

constexpr real unknown = std::numeric_limits<real>::quiet_NaN();

void check_recall(const Recall& recall, double at1, double at5, double at10, double mean_rank) {
  CHECK(recall.at1 == doctest::Approx(at1));
  CHECK(recall.at5 == doctest::Approx(at5));
  CHECK(recall.at10 == doctest::Approx(at10));
  CHECK(recall.mean_rank == doctest::Approx(mean_rank));
}

}  // namespace

TEST_CASE("recall: from ranks") {
  const std::vector<size_t> ranks{0, 0, 1, 4, 5, 9, 10, 999};
  check_recall(recall_of(ranks), 25, 50, 75, 1028.0 / 8 + 1);
}

TEST_CASE("retrieval: one caption an image") {
  // Image 0 finds its caption first; image 1 second, after caption 0; image 2 last.
  const Tensor scores = Tensor::from({3, 3}, {9, 1, 2,  //
                                              5, 4, 3,  //
                                              8, 7, 6});
  const Retrieval found = retrieval_of(scores, 1);
  check_recall(found.caption, 100.0 / 3, 100, 100, 2);
  // By columns: 9 is first; 4 is after 7; 6 is first.
  check_recall(found.image, 200.0 / 3, 100, 100, 4.0 / 3);
  CHECK(found.sum() == doctest::Approx(100 + 400));
}

TEST_CASE("retrieval: of several right captions the best counts, and they are not in each other's way") {
  const Tensor scores = Tensor::from({2, 4}, {1, 6, 5, 2,  //
                                              8, 3, 7, 7});
  const Retrieval found = retrieval_of(scores, 2);
  check_recall(found.caption, 50, 100, 100, 1.5);  // image 1 has 7 and 7, and 8 is before them
  check_recall(found.image, 75, 100, 100, 1.25);   // only caption 0 finds the other image before
  for (const Tensor& one : {Tensor::from({2, 4}, {unknown, 9, 5, 2, 8, 3, 7, 7}),
                            Tensor::from({2, 4}, {9, unknown, 5, 2, 8, 3, 7, 7})})
    check_recall(retrieval_of(one, 2).caption, 50, 100, 100, 1.5);  // the other of its own captions counts
}

TEST_CASE("retrieval: ties and NaN count as before the right answer") {
  // A model that scores everything alike finds nothing.
  const Retrieval blind = retrieval_of(Tensor::ones({12, 24}), 2);
  check_recall(blind.caption, 0, 0, 0, 23);
  check_recall(blind.image, 0, 0, 0, 12);
  const Retrieval tied = retrieval_of(Tensor::from({2, 2}, {3, 3, 1, 4}), 1);
  check_recall(tied.caption, 50, 100, 100, 1.5);
  check_recall(tied.image, 100, 100, 100, 1);
  const Retrieval broken = retrieval_of(Tensor::from({2, 2}, {unknown, 3, 1, 4}), 1);
  check_recall(broken.caption, 50, 100, 100, 1.5);
  check_recall(broken.image, 50, 100, 100, 1.5);
  const Retrieval all = retrieval_of(Tensor::full({20, 20}, unknown), 1);
  check_recall(all.caption, 0, 0, 0, 20);
  check_recall(all.image, 0, 0, 0, 20);
}

TEST_CASE("retrieval: large, against counting one by one, on one and two threads") {
  const size_t images = 83, own = 5, captions = images * own;
  const Tensor scores = sample({images, captions}, 1);
  std::vector<size_t> caption_ranks, image_ranks;
  for (size_t i = 0; i < images; ++i) {
    size_t least = captions;
    for (size_t mine = i * own; mine < (i + 1) * own; ++mine) {
      size_t before = 0;
      for (size_t j = 0; j < captions; ++j)
        before += j / own != i && scores[i * captions + j] >= scores[i * captions + mine];
      least = std::min(least, before);
    }
    caption_ranks.push_back(least);
  }
  for (size_t j = 0; j < captions; ++j) {
    size_t before = 0;
    for (size_t i = 0; i < images; ++i)
      before += i != j / own && scores[i * captions + j] >= scores[j / own * captions + j];
    image_ranks.push_back(before);
  }
  for (const int count : {1, 2}) {
    set_threads(count);
    const Retrieval found = retrieval_of(scores, own);
    const Recall caption = recall_of(caption_ranks), image = recall_of(image_ranks);
    check_recall(found.caption, caption.at1, caption.at5, caption.at10, caption.mean_rank);
    check_recall(found.image, image.at1, image.at5, image.at10, image.mean_rank);
  }
  set_threads(0);
}

TEST_CASE("retrieval: means, and scores of other shapes") {
  const Retrieval a = retrieval_of(Tensor::from({2, 2}, {2, 1, 1, 2}), 1),
                  b = retrieval_of(Tensor::from({2, 2}, {1, 2, 2, 1}), 1);
  const Retrieval mean = mean_of(std::vector<Retrieval>{a, b});
  check_recall(mean.caption, 50, 100, 100, 1.5);
  CHECK_ERROR(retrieval_of(Tensor::zeros({2, 3}), 2),
              "retrieval: scores [2 x 3] with 2 captions an image; [N x N times that] is needed");
}
