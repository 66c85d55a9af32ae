// Scores of images with captions, and the contrastive loss.

#include <limits>

#include "models/order_embedding/loss.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::order_embedding;

namespace {

struct Sizes {
  size_t images, captions, width;
};
// Full tiles of 4 x 4, partial tiles, and vectors with and without a remainder.
const std::vector<Sizes> sizes = {{1, 1, 1}, {4, 4, 16}, {5, 3, 7}, {3, 9, 33}, {8, 13, 128}, {2, 70, 150}};

}  // namespace

TEST_CASE("order scores: by hand") {
  const Tensor images = Tensor::from({2, 3}, {1, 2, 3, 0, 0, 0}), captions = Tensor::from({1, 3}, {2, 1, 3});
  CHECK(difference(order_scores(images, captions), {-1, -14}) == 0);  // not symmetric: only 2 > 1 counts
  CHECK(difference(order_scores(captions, images), {-1, 0}) == 0);    // all zeros are above everything
  CHECK_ERROR(order_scores(images, Tensor::zeros({1, 4})),
              "order_scores: images [2 x 3] and captions [1 x 4] must be matrices of the same width");
}

TEST_CASE("order scores: gradients, and the composed twin") {
  for (const auto& [images, captions, width] : sizes) {
    const std::vector<Tensor> inputs{sample({images, width}, 1), sample({captions, width}, 2)};
    check_twins([](const auto& in) { return order_scores(in[0], in[1]); },
                [](const auto& in) { return order_embedding::composed::order_scores(in[0], in[1]); }, inputs,
                twin_tolerance(16));
    if (images * captions * width < 1000)
      check_gradients(
          inputs, [&] { return weighted(order_scores(inputs[0], inputs[1])) + sum(square(inputs[0])); },
          1e-6);
  }
}

TEST_CASE("order scores: one and two threads, and a gradient for one side only") {
  const Tensor images = sample({37, 200}, 1), captions = sample({45, 200}, 2);
  const Layer scores = [](const auto& in) { return order_scores(in[0], in[1]); };
  check_threads(scores, {images, captions}, 0);
  Tensor wanted = captions.copy().require_gradient();
  Tape tape;
  tape.backward(sum(order_scores(images, wanted)));
  CHECK(wanted.gradient_data() != nullptr);
  CHECK(images.gradient_data() == nullptr);
}

TEST_CASE("order scores: a NaN is not in order") {
  Tensor images = sample({5, 40}, 1);
  images[2 * 40 + 35] = std::numeric_limits<real>::quiet_NaN();
  const Tensor scores = order_scores(images, sample({6, 40}, 2));
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = 0; j < 6; ++j) CHECK(std::isnan(scores[i * 6 + j]) == (i == 2));
}

TEST_CASE("contrastive loss: by hand") {
  Tensor scores = Tensor::from({2, 2}, {-1, -1.5, -3, -2}).require_gradient();
  Tape tape;
  // i = 0, j = 1: 1 + 1 - 1.5 = 0.5 and 1 + 2 - 1.5 = 1.5; i = 1, j = 0: 1 + 2 - 3 = 0 and 1 + 1 - 3 < 0.
  const Tensor loss = contrastive_loss(scores, 1);
  CHECK(loss.item() == doctest::Approx(2));
  tape.backward(loss);
  CHECK(difference(scores.gradient(), {-1, 2, 0, -1}) == 0);
  CHECK_ERROR(contrastive_loss(Tensor::zeros({2, 3}), 1),
              "contrastive_loss: the scores are [2 x 3]; as many images as captions are needed");
}

TEST_CASE("contrastive loss: one pair has nothing to be told from; a NaN shows") {
  CHECK(contrastive_loss(Tensor::from({1, 1}, {-3}), 1).item() == 0);
  Tensor scores = sample({3, 3}, 1);
  scores[5] = std::numeric_limits<real>::quiet_NaN();
  CHECK(std::isnan(contrastive_loss(scores, 1).item()));
}

TEST_CASE("contrastive loss: gradients, and the composed twin") {
  for (const size_t count : {size_t{1}, size_t{2}, size_t{7}, size_t{20}})
    for (const double margin : {0.05, 0.2, 5.0}) {
      const Tensor scores = sample({count, count}, count);
      check_twins([&](const auto& in) { return contrastive_loss(in[0], static_cast<real>(margin)); },
                  [&](const auto& in) {
                    return order_embedding::composed::contrastive_loss(in[0], static_cast<real>(margin));
                  },
                  {scores}, twin_tolerance(64));
      if (count <= 7)
        check_gradients(
            {scores}, [&] { return contrastive_loss(scores, static_cast<real>(margin)) + weighted(scores); },
            1e-6);
    }
}
