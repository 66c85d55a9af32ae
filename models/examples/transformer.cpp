// A Transformer (Vaswani et al. 2017) with pre-layer-norm (Xiong et al. 2020) that learns to sort digits.
#include <lamina.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <numeric>
using namespace lamina;

constexpr size_t length = 8, width = 32, heads = 4, digits = 10;

struct Block {
  Block(Parameters& parameters, const std::string& name)
      : query(parameters, name + ".query", {.input = width, .output = width}),
        key(parameters, name + ".key", {.input = width, .output = width}),
        value(parameters, name + ".value", {.input = width, .output = width}),
        mixed(parameters, name + ".mixed", {.input = width, .output = width}),
        inner(parameters, name + ".inner", {.input = width, .output = 4 * width}),
        outer(parameters, name + ".outer", {.input = 4 * width, .output = width}),
        first(parameters, name + ".first", {.features = width}),
        second(parameters, name + ".second", {.features = width}) {}

  /// x [B x length x width], both input and output
  Tensor attend(const Tensor& x) const {
    const size_t rows = x.rows() / length;
    const auto split = [&](const Tensor& y) {  // [B x heads x length x width / heads]
      return permute(y.reshape({rows, length, heads, width / heads}), {0, 2, 1, 3});
    };
    const real scale = 1 / std::sqrt(real(width / heads));
    const Tensor scores = matmul(split(query(x)), split(key(x)), {.b = Transpose::yes}) * scale;
    const Tensor answer = matmul(softmax(scores), split(value(x)));
    return mixed(permute(answer, {0, 2, 1, 3}).reshape({rows, length, width}));
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor y = x + attend(first(x));
    return y + outer(gelu(inner(second(y))));
  }

  Linear query, key, value, mixed, inner, outer;
  LayerNorm first, second;
};

struct Model {
  explicit Model(Parameters& parameters)
      : words(parameters, "words", {.entries = digits, .width = width, .initial = normal(1)}),
        positions(parameters, "positions", {.entries = length, .width = width, .initial = normal(1)}),
        norm(parameters, "norm", {.features = width}),
        output(parameters, "output", {.input = width, .output = digits}) {
    for (const char* const name : {"block1", "block2"}) blocks.emplace_back(parameters, name);
  }
  /// Digits [B x length] -> logits [B x length x digits]
  Tensor operator()(const std::vector<int>& numbers) const {
    std::vector<int> places(length);
    std::iota(places.begin(), places.end(), 0);
    Tensor x = words(numbers).reshape({numbers.size() / length, length, width}) + positions(places);
    for (const Block& block : blocks) x = block(x);
    return output(norm(x));
  }
  Embedding words, positions;
  LayerNorm norm;
  Linear output;
  std::deque<Block> blocks;
};

int main() {
  Parameters parameters(/*seed=*/1);
  const Model model(parameters);
  Adam adam(parameters, {.learning_rate = real(2e-3)});
  Random random(2);
  for (int step = 1; step <= 300; ++step) {
    std::vector<int> numbers(64 * length);
    for (int& number : numbers) number = int(random.below(digits));
    std::vector<int> sorted = numbers;
    for (auto row = sorted.begin(); row != sorted.end(); row += length) std::sort(row, row + length);
    Tape tape;
    const Tensor logits = model(numbers), loss = cross_entropy(logits, sorted);
    tape.backward(loss);
    adam.step();
    if (step % 100 == 0) {
      const std::vector<int> answers = argmax(logits, -1);
      size_t right = 0;
      for (size_t i = 0; i < answers.size(); ++i) right += answers[i] == sorted[i];
      std::cout << "step " << step << ": " << loss.item() << " nats, " << 100 * right / answers.size()
                << "% right\n";
    }
  }
}
