// The output layer of skip-thoughts with its loss.

#include <array>

#include "models/skip_thoughts/word_loss.h"
#include "tests/layers/twins.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::skip_thoughts;

namespace {

struct LossSizes {
  size_t first, second, width, vocabulary;  // states of two decoders
};

/// Words for `count` states, every third of which predicts none.
std::vector<int> some_words(size_t count, size_t vocabulary) {
  std::vector<int> words(count);
  for (size_t i = 0; i < count; ++i)
    words[i] = i % 3 == 2 ? no_word : static_cast<int>((7 * i + 3) % vocabulary);
  return words;
}

using Loss = Tensor (*)(std::span<const Predictions>, const Tensor&, const Tensor&);

/// The loss of two decoders as a function of both states, the weight and the bias.
Layer layer_of(Loss loss, const LossSizes& sizes) {
  return [=](const std::vector<Tensor>& in) {
    const std::vector<int> before = some_words(sizes.first, sizes.vocabulary),
                           after = some_words(sizes.second, sizes.vocabulary);
    const std::array<Predictions, 2> decoders{Predictions{in[0], before}, Predictions{in[1], after}};
    return loss(decoders, in[2], in[3]);
  };
}

std::vector<Tensor> inputs_of(const LossSizes& sizes) {
  return {sample({sizes.first, sizes.width}, 1), sample({sizes.second, sizes.width}, 2),
          sample({sizes.width, sizes.vocabulary}, 3), sample({sizes.vocabulary}, 4)};
}

}  // namespace

TEST_CASE("word loss: by hand") {
  const std::vector<int> words{1, no_word, 0};
  const Tensor states = Tensor::from({3, 1}, {1, 100, 0}).require_gradient();
  Tensor weight = Tensor::from({1, 2}, {0, 2}).require_gradient(),
         bias = Tensor::zeros({2}).require_gradient();
  const std::array<Predictions, 1> decoder{Predictions{states, words}};
  Tape tape;
  const Tensor loss = word_loss(decoder, weight, bias);
  const double p = 1 / (1 + std::exp(2.0));  // of word 0 at the first state
  CHECK(static_cast<double>(loss.item()) == doctest::Approx((-std::log(1 - p) + std::log(2.0)) / 2));
  tape.backward(loss * 3);
  CHECK(difference(states.gradient(), {-3 * p, 0, 1.5}) < 8 * ulp);
  CHECK(difference(weight.gradient(), {1.5 * p, -1.5 * p}) < 8 * ulp);
  CHECK(difference(bias.gradient(), {1.5 * (p - 0.5), 1.5 * (0.5 - p)}) < 8 * ulp);
}

TEST_CASE("word loss: gradients, and the composed twin") {
  for (const LossSizes& sizes :
       {LossSizes{1, 1, 1, 2}, LossSizes{4, 6, 3, 5}, LossSizes{7, 2, 5, 33}, LossSizes{900, 600, 4, 7}}) {
    const std::vector<Tensor> inputs = inputs_of(sizes);
    check_twins(layer_of(word_loss, sizes), layer_of(skip_thoughts::composed::word_loss, sizes), inputs,
                twin_tolerance(32));
    if (sizes.first < 10)
      check_gradients(inputs,
                      [&] { return layer_of(word_loss, sizes)(inputs) * 5 + sum(square(inputs[0])); });
  }
}

TEST_CASE("word loss: one and two threads; nothing is kept without a tape") {
  const LossSizes sizes{90, 60, 40, 700};
  const std::vector<Tensor> inputs = inputs_of(sizes);
  check_threads(layer_of(word_loss, sizes), inputs, 0);
  const Tensor loss = layer_of(word_loss, sizes)(inputs);
  CHECK_FALSE(loss.needs_gradient());
}

TEST_CASE("word loss: large logits, and a NaN shows") {
  LossSizes sizes{2, 1, 1, 3};
  std::vector<Tensor> inputs = inputs_of(sizes);
  inputs[3][1] = 1e4;
  CHECK(std::isfinite(layer_of(word_loss, sizes)(inputs).item()));
  inputs[2][2] = std::numeric_limits<real>::quiet_NaN();
  CHECK(std::isnan(layer_of(word_loss, sizes)(inputs).item()));
}

TEST_CASE("word loss: errors") {
  const Tensor states = Tensor::zeros({2, 3}), weight = Tensor::zeros({3, 4}), bias = Tensor::zeros({4});
  const auto loss = [&](std::vector<int> words, const Tensor& b) {
    const std::array<Predictions, 1> decoder{Predictions{states, words}};
    return word_loss(decoder, weight, b);
  };
  CHECK_ERROR(loss({0, 1}, Tensor::zeros({3})),
              "word_loss: weight [3 x 4] and bias [3]; [H x V] and [V] are needed");
  CHECK_ERROR(loss({0}, bias),
              "word_loss: 1 words for states [2 x 3] and a weight [3 x 4]; one a state of 3 units is needed");
  CHECK_ERROR(loss({0, 4}, bias), "word_loss: word 4 is outside the vocabulary of 4");
  CHECK_ERROR(loss({no_word, no_word}, bias), "word_loss: there is no word to predict");
}
