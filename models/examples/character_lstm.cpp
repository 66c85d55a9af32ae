// A language model of characters: an LSTM with layer norm learns a text and then continues it.
//
//   character_lstm FILE [STEPS]
#include <lamina.h>
#include <lamina/train.h>

#include <iostream>
#include <set>
using namespace lamina;

struct Model {
  Model(Parameters& parameters, size_t characters)
      : embedding(parameters, "embedding", {.entries = characters, .width = 32}),
        lstm(parameters, "lstm", {.input = 32, .hidden = 128, .norm = Norm::layer, .forget_bias = 1}),
        output(parameters, "output", {.input = 128, .output = characters}) {}

  /// Characters [T x B] -> logits of the next ones; `state` is carried on, without history.
  Tensor operator()(const std::vector<int>& characters, size_t rows, RecurrentState& state) const {
    const size_t steps = characters.size() / rows;
    const Sequence sequence = lstm(embedding(characters).reshape({steps, rows, 32}), {.initial = state});
    state = sequence.last.detach();
    return output(sequence.hidden);
  }

  Embedding embedding;
  Lstm lstm;
  Linear output;
};

int main(int count, char** arguments) {
  if (count < 2) return std::cerr << "usage: character_lstm FILE [STEPS]\n", 2;
  const std::string text = read_file(arguments[1]);
  const size_t rows = 8, steps = 32, part = text.size() / rows;  // each row reads a part of the text
  if (part <= steps)
    return std::cerr << arguments[1] << ": give at least " << rows * (steps + 1) << " characters\n", 2;
  const std::set<char> distinct(text.begin(), text.end());
  const std::string alphabet(distinct.begin(), distinct.end());
  const auto number = [&](char c) { return int(alphabet.find(c)); };

  Parameters parameters(/*seed=*/1);
  const Model model(parameters, alphabet.size());
  Adam adam(parameters, {.learning_rate = real(5e-3)});
  size_t position = 0;
  RecurrentState state;
  for (int step = 1, last = count > 2 ? std::stoi(arguments[2]) : 300; step <= last; ++step) {
    if (position + steps + 1 > part) position = 0, state = {};
    std::vector<int> inputs, targets;
    for (size_t t = position; t < position + steps; ++t)
      for (size_t row = 0; row < rows; ++row) {
        inputs.push_back(number(text[row * part + t]));
        targets.push_back(number(text[row * part + t + 1]));
      }
    position += steps;
    Tape tape;
    const Tensor loss = cross_entropy(model(inputs, rows, state), targets);
    tape.backward(loss);
    clip_gradient_norm(parameters, 1);
    adam.step();
    if (step % 50 == 0) std::cout << "step " << step << ": " << loss.item() << " nats per character\n";
  }

  Random random(2);
  state = {};
  for (int i = 0, next = number(text[0]); i < 300; ++i) {
    std::cout << alphabet[size_t(next)];
    const Tensor shares = softmax(model({next}, 1, state));
    real left = random.uniform();
    for (next = 0; next + 1 < int(alphabet.size()) && (left -= shares[size_t(next)]) >= 0;) ++next;
  }
  std::cout << '\n';
}
