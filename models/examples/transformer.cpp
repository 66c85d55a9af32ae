// A Transformer (Vaswani et al. 2017) with pre-layer-norm (Xiong et al. 2020) that learns to sort digits.
#include <lamina.h>

#include <algorithm>
#include <iostream>
#include <numeric>
using namespace lamina;

constexpr size_t length = 8, width = 32, digits = 10;
const TransformerBlockOptions block_options = {.width = width, .heads = 4, .placement = Placement::pre};

struct Model {
  explicit Model(Parameters& parameters)
      : words(parameters, "words", {.entries = digits, .width = width, .initial = normal(1)}),
        positions(parameters, "positions", {.entries = length, .width = width, .initial = normal(1)}),
        norm(norm_after_blocks(parameters, "norm", block_options)),
        output(parameters, "output", {.input = width, .output = digits}) {
    for (const char* const name : {"block1", "block2"}) blocks.emplace_back(parameters, name, block_options);
  }
  /// Digits [B x length] -> logits [B x length x digits]
  Tensor operator()(const std::vector<int>& numbers, Mode mode) {
    std::vector<int> places(length);
    std::iota(places.begin(), places.end(), 0);
    Tensor x = words(numbers).reshape({numbers.size() / length, length, width}) + positions(places);
    for (TransformerBlock& block : blocks) x = block(x, mode);
    return output(norm(x, mode));
  }
  Embedding words, positions;
  Normalization norm;
  Linear output;
  std::vector<TransformerBlock> blocks;
};

int main() {
  Parameters parameters(/*seed=*/1);
  Model model(parameters);
  Adam adam(parameters, {.learning_rate = real(2e-3)});
  Random random(2);
  for (int step = 1; step <= 300; ++step) {
    std::vector<int> numbers(64 * length);
    for (int& number : numbers) number = int(random.below(digits));
    std::vector<int> sorted = numbers;
    for (auto row = sorted.begin(); row != sorted.end(); row += length) std::sort(row, row + length);
    Tape tape;
    const Tensor logits = model(numbers, Mode::train), loss = cross_entropy(logits, sorted);
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
