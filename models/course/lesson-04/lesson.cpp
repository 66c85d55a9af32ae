// Lesson 4: softmax and cross-entropy; a regression and digits that overfit. Writes learning.svg.
#include <lamina.h>
#include <lamina/train.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <vector>
using namespace lamina;

void print(const char* name, const Tensor& x) {
  std::printf("%-20s", name);
  for (const real v : x.values()) std::printf("%8.3f", std::isnan(v) ? NAN : v);  // a NaN without its sign
  std::printf("\n");
}

void softmax_and_cross_entropy() {
  Tensor z = Tensor::from({3}, {1, 2, 4});
  z.require_gradient();
  const Tensor p = exp(z) / sum(exp(z));
  Tape tape;
  const Tensor loss = cross_entropy(z, {1});
  tape.backward(loss);
  print("z", z);
  print("p", p);
  print("p - y, label 1", p - Tensor::from({3}, {0, 1, 0}));
  print("dz by the tape", z.gradient());
  std::printf("loss: -log p_1 = %.3f, cross_entropy: %.3f\n", -std::log(p[1]), loss.item());
  print("p of z + 1000", exp(z + 1000) / sum(exp(z + 1000)));
  print("softmax(z + 1000)", softmax(z + 1000));
}

struct Look {
  int time;                    ///< steps or epochs so far
  double train, valid, error;  ///< losses on both sets of cases, and the error in use
  Tensor curve;                ///< of a regression
};

/// Early stopping: the look with the lowest validation loss before ten in a row were not lower.
const Look& best_of(const std::vector<Look>& looks) {
  size_t best = 0;
  for (size_t i = 1; i < looks.size() && i <= best + 10; ++i)
    if (looks[i].valid < looks[best].valid) best = i;
  return looks[best];
}

struct Cases {
  Tensor x, y;  ///< y = sin(4 x) and noise of deviation 0.3
};

Cases draw_cases(size_t count, Random random) {
  Cases cases{uniform(1)({count, 1}, random.split(1)), normal(0.3)({count, 1}, random.split(2))};
  for (size_t i = 0; i < count; ++i) cases.y[i] += std::sin(4 * cases.x[i]);
  return cases;
}

std::vector<Look> learn_a_curve(std::uint64_t seed) {
  const Random random(seed);
  const Cases train = draw_cases(15, random.split(1)), valid = draw_cases(15, random.split(2));
  const Cases test = draw_cases(1000, random.split(3));
  Parameters parameters(seed);
  const Linear first(parameters, "first", {.input = 1, .output = 64});
  const Linear second(parameters, "second", {.input = 64, .output = 64});
  const Linear output(parameters, "output", {.input = 64, .output = 1});
  const auto model = [&](const Tensor& x) { return output(tanh(second(tanh(first(x))))); };
  const auto error = [&](const Cases& cases) { return mean_squared_error(model(cases.x), cases.y).item(); };
  Adam adam(parameters, {.learning_rate = 0.003});
  Tensor grid({81, 1});
  for (size_t i = 0; i < 81; ++i) grid[i] = real(i) / 40 - 1;
  std::vector<Look> looks;
  for (int step = 0; step <= 3000; ++step) {
    if (step % 20 == 0) looks.push_back({step, error(train), error(valid), error(test), model(grid)});
    Tape tape;
    tape.backward(mean_squared_error(model(train.x), train.y));
    adam.step();
  }
  return looks;
}

/// 1000 built-in digits, 50 at a time, and a hidden layer of 64 units.
std::vector<Look> learn_digits(std::uint64_t seed) {
  const MnistData data = synthetic_mnist(seed, 1000, 1000, 1);
  const Tensor pixels = Tensor::from({1000, 784}, data.train.pixels);
  const Tensor unseen = Tensor::from({1000, 784}, data.valid.pixels);
  Parameters parameters(seed);
  const Linear hidden(parameters, "hidden", {.input = 784, .output = 64});
  const Linear output(parameters, "output", {.input = 64, .output = 10});
  const auto model = [&](const Tensor& x) { return output(relu(hidden(x))); };
  Adam adam(parameters, {.learning_rate = 0.002});
  std::vector<Look> looks;
  for (int epoch = 0; epoch <= 40; ++epoch) {
    const double train = cross_entropy(model(pixels), data.train.labels).item();
    const double valid = cross_entropy(model(unseen), data.valid.labels).item();
    const std::vector<int> answers = argmax(model(unseen), -1);
    double wrong = 0;
    for (size_t i = 0; i < 1000; ++i) wrong += answers[i] != data.valid.labels[i];
    looks.push_back({epoch, train, valid, wrong / 1000, {}});
    for (size_t begin = 0; begin < 1000; begin += 50) {
      const std::span<const int> labels(data.train.labels.data() + begin, 50);
      Tape tape;
      tape.backward(cross_entropy(model(pixels.slice(begin, begin + 50)), labels));
      adam.step();
    }
  }
  return looks;
}

void report(std::uint64_t seed, const std::vector<Look>& looks) {
  const Look &best = best_of(looks), &end = looks.back();
  std::printf("%4d %6d %6.3f %6.3f", int(seed), best.time, best.valid, best.error);
  std::printf(" %9d %6.3f %6.3f\n", end.time, end.valid, end.error);
}

/// A line through values from 0 to 1, in the part of the picture that begins at `left`.
void draw(std::ofstream& out, double left, const char* color, const Tensor& values) {
  out << "<polyline fill='none' stroke='" << color << "' points='";
  for (size_t i = 0; i < values.size(); ++i)
    out << left + 220.0 * double(i) / double(values.size() - 1) << "," << 190 - 180 * values[i] << " ";
  out << "'/>\n";
}

/// Training loss and validation loss on a logarithmic axis from 0.0001 to 10.
void draw_losses(std::ofstream& out, double left, const std::vector<Look>& looks) {
  Tensor train({looks.size()}), valid({looks.size()});
  for (size_t i = 0; i < looks.size(); ++i) train[i] = looks[i].train;
  for (size_t i = 0; i < looks.size(); ++i) valid[i] = looks[i].valid;
  draw(out, left, "#26a", log(train * 10000) / std::log(1e5));
  draw(out, left, "#c33", log(valid * 10000) / std::log(1e5));
}

int main() {
  set_threads(1);
  softmax_and_cross_entropy();
  std::vector<std::vector<Look>> curves, digits;
  std::printf("\nseed   step  valid   test      step  valid   test\n");
  for (std::uint64_t seed = 1; seed <= 6; ++seed) report(seed, curves.emplace_back(learn_a_curve(seed)));
  std::printf("\nseed  epoch  valid  wrong     epoch  valid  wrong\n");
  for (std::uint64_t seed = 1; seed <= 3; ++seed) report(seed, digits.emplace_back(learn_digits(seed)));
  std::ofstream out("learning.svg");
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 200' style='background:#fff'>\n";
  draw(out, 10, "#393", best_of(curves[5]).curve / 3 + 0.5);
  draw(out, 10, "#c33", curves[5].back().curve / 3 + 0.5);
  const Cases train = draw_cases(15, Random(6).split(1));
  for (size_t i = 0; i < 15; ++i)
    out << "<circle r='3' cx='" << 120 + 110 * train.x[i] << "' cy='" << 100 - 60 * train.y[i] << "'/>\n";
  draw_losses(out, 270, curves[5]);
  draw_losses(out, 530, digits[0]);
  out << "</svg>\n";
}
