// Lesson 8: recurrent networks. The gradient at each step of back-propagation through time; a task on which it
// explodes or vanishes, and what clipping, gates and layer norm do about it; a model of letters that writes.
#include <lamina.h>
#include <lamina/train.h>

#include <cmath>
#include <cstdio>
#include <fstream>
using namespace lamina;

using Curve = std::vector<double>;

/// Curves over a logarithmic axis from 10^-top to 10^top.
void draw(const std::string& file, const std::vector<Curve>& curves, int top) {
  const char* const colors[] = {"blue", "green", "red", "skyblue", "lightgreen", "lightcoral"};
  const auto y = [=](double power) { return int(120 - 110 * power / top); };
  std::ofstream svg(file);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' width='460' height='240' style='background:white'>\n";
  for (const int power : {-top, 0, top})
    svg << "<path d='M50 " << y(power) << "h400' stroke='silver'/><text y='" << y(power) + 5 << "'>1e"
        << power << "</text>\n";
  for (size_t k = 0; k < curves.size(); ++k) {
    svg << "<polyline fill='none' stroke-width='2' stroke='" << colors[k] << "' points='";
    for (size_t i = 0; i < curves[k].size(); ++i)
      svg << 50 + 400 * i / curves[k].size() << ',' << y(std::log10(curves[k][i])) << ' ';
    svg << "'/>\n";
  }
  svg << "</svg>\n";
}

/// norm2 of dL/dh_t for t = 40, 39, ..., 1, L being a weighted sum of h_40. What is added to h_t has its derivative.
Curve gradient_lengths(Norm norm, real scale) {
  constexpr size_t steps = 40, rows = 8;
  Parameters parameters(/*seed=*/1);
  const Rnn rnn(parameters, "r",
                {.input = 32, .hidden = 32, .norm = norm, .hidden_initial = orthogonal(scale)});
  const Tensor x = normal(real(0.1))({steps, rows, 32}, Random(/*seed=*/2));
  std::vector<Tensor> added(1);
  Tape tape;
  RecurrentSession step(rnn, {.steps = steps, .rows = rows});
  Tensor h = step.initial().h;
  for (size_t t = 0; t < steps; ++t) {
    added.push_back(Tensor::zeros({rows, 32}).require_gradient());
    h = step(x.step(t), {.h = h}).h + added.back();
  }
  tape.backward(h, normal(1)(h.shape(), Random(/*seed=*/3)));
  Curve lengths;
  for (size_t t = steps; t > 0; --t) lengths.push_back(std::sqrt(sum(square(added[t].gradient())).item()));
  return lengths;
}

/// Learns to say after 16 steps which of 4 symbols came first. Returns the length of each update's gradient.
Curve remember(Parameters& parameters, const Recurrent& layer, double limit, double& end) {
  const Linear output(parameters, "output", {.input = 32, .output = 4});
  Sgd sgd(parameters, {.learning_rate = real(0.5)});
  Random random(parameters.random("symbols"));
  Curve lengths;
  while (lengths.size() < 300) {
    Tensor x = normal(real(0.1))({16, 32, 4}, random.split(lengths.size()));
    std::vector<int> first(32);
    for (size_t row = 0; row < first.size(); ++row) {
      first[row] = int(random.below(4));
      for (int k = 0; k < 4; ++k) x.at(0, row, k) = k == first[row];
    }
    Tape tape;
    const Tensor error = cross_entropy(output(layer(x).last.h), first);
    tape.backward(error);
    lengths.push_back(clip_gradient_norm(parameters, real(limit)));
    sgd.step();
    if (lengths.size() > 280) end += error.item() / 20;
  }
  return lengths;
}

/// An LSTM with layer norm reads 16 texts side by side, learns to say which letter comes next, and then writes.
void write() {
  const std::string alphabet = " ,.abcdefghijklmnopqrstuvwxyz";
  constexpr size_t rows = 16, steps = 32, updates = 600, part = steps * updates;
  std::vector<int> text;  // row r reads text[r part], text[r part + 1], ...
  for (std::uint64_t story = 0; text.size() <= rows * part; ++story)
    for (const std::string& sentence : tell_story(/*seed=*/1, story))
      for (const char letter : sentence + ' ') text.push_back(int(alphabet.find(letter)));
  Parameters parameters(/*seed=*/1);
  const Embedding embedding(parameters, "embedding", {.entries = alphabet.size(), .width = 32});
  const Lstm lstm(parameters, "lstm", {.input = 32, .hidden = 128, .norm = Norm::layer, .forget_bias = 1});
  const Linear output(parameters, "output", {.input = 128, .output = alphabet.size()});
  RecurrentState state;
  const auto logits_after = [&](std::span<const int> letters, size_t texts) {
    const Tensor x = embedding(letters).reshape({letters.size() / texts, texts, 32});
    const Sequence sequence = lstm(x, {.initial = state});
    state = sequence.last.detach();  // the next piece goes on from here, but its gradient stops here
    return output(sequence.hidden);
  };
  Adam adam(parameters, {.learning_rate = real(5e-3)});
  for (size_t update = 0; update < updates; ++update) {
    std::vector<int> piece;  // [33 x 16]: all but the last are read, all but the first are to be predicted
    for (size_t t = update * steps; t <= (update + 1) * steps; ++t)
      for (size_t row = 0; row < rows; ++row) piece.push_back(text[row * part + t]);
    const std::span<const int> read(piece.data(), steps * rows), next(piece.data() + rows, steps * rows);
    Tape tape;
    const Tensor loss = cross_entropy(logits_after(read, rows), next);
    tape.backward(loss);
    clip_gradient_norm(parameters, 1);
    adam.step();
    if (update % 200 == 199) std::printf("update %zu: %.2f nats a letter\n", update + 1, loss.item());
  }

  Random random(/*seed=*/2);
  state = {};
  for (int i = 0, letter = int(alphabet.find('o')); i < 300; ++i) {
    std::putchar(alphabet[size_t(letter)]);
    const Tensor shares = softmax(logits_after({&letter, 1}, 1));
    real left = random.uniform();
    for (letter = 0; left >= shares[size_t(letter)] && letter < 28; ++letter) left -= shares[size_t(letter)];
  }
  std::putchar('\n');
}

int main() {
  set_threads(1);
  std::vector<Curve> curves;
  for (const Norm norm : {Norm::none, Norm::layer})
    for (const double scale : {0.5, 1.0, 2.0}) {
      const Curve lengths = gradient_lengths(norm, real(scale));
      const double factor = std::pow(lengths.back() / lengths.front(), 1.0 / 39);
      std::printf("%s, W_h x %.1f: x %.2f per step\n", entry_of(norm).title, scale, factor);
      curves.push_back(lengths);
    }
  draw("gradients.svg", curves, 12);
  const auto learn = [](const char* name, double limit, const Cell& cell, RecurrentOptions options) {
    options.input = 4, options.hidden = 32;
    Curve lengths;
    int learned = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Parameters parameters(seed);
      double loss = 0;
      lengths = remember(parameters, Recurrent(parameters, "layer", cell, options), limit, loss);
      learned += loss < 0.3;
    }
    std::printf("%s: learned by %d of 5 seeds\n", name, learned);
    return lengths;
  };
  learn("RNN, W_h x 0.5", 1, tanh_cell(), {.hidden_initial = orthogonal(real(0.5))});
  const Curve exploding = learn("RNN, not clipped", 1e9, tanh_cell(), {});
  const Curve clipped = learn("RNN", 1, tanh_cell(), {});
  learn("LSTM with layer norm", 1, lstm_cell(), {.norm = Norm::layer, .forget_bias = 1});
  draw("explosion.svg", {clipped, exploding}, 3);
  write();
}
