// Lesson 5: gradient descent, momentum and Adam by hand on a valley; weight decay beside L2. Writes paths.svg.
#include <lamina.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <vector>
using namespace lamina;

using Pair = std::array<double, 2>;

/// L = 1/2 w^T A w with A = (a b; b c): along the valley its curvature is 1, across it k.
struct Valley {
  double a, b, c;
  Pair start;
  Pair gradient(const Pair& w) const { return {a * w[0] + b * w[1], b * w[0] + c * w[1]}; }
  double loss(const Pair& w) const { return (a * w[0] * w[0] + 2 * b * w[0] * w[1] + c * w[1] * w[1]) / 2; }
};
Valley straight(double k) { return {1, 0, k, {-4.5, 1}}; }
Valley turned(double k) {  // by 45 degrees
  return {(1 + k) / 2, (1 - k) / 2, (1 + k) / 2, {-5.5 * std::sqrt(0.5), -3.5 * std::sqrt(0.5)}};
}

/// Gradient descent, with momentum where that is not 0. A step is for coordinate i of w and of the gradient.
struct Descent {
  double rate, momentum = 0;
  Pair velocity = {0, 0};
  void step(double& w, double g, size_t i) {
    velocity[i] = momentum * velocity[i] + g;
    w -= rate * velocity[i];
  }
};

struct AdamByHand {
  double rate;
  bool corrected = true;
  Pair m = {0, 0}, v = {0, 0}, t = {0, 0};
  void step(double& w, double g, size_t i) {
    t[i] += 1;
    m[i] = 0.9 * m[i] + 0.1 * g;
    v[i] = 0.999 * v[i] + 0.001 * g * g;
    const double mean = corrected ? m[i] / (1 - std::pow(0.9, t[i])) : m[i];
    const double square = corrected ? v[i] / (1 - std::pow(0.999, t[i])) : v[i];
    w -= rate * mean / (std::sqrt(square) + 1e-8);
  }
};

Descent best_descent(double k) { return {2 / (1 + k)}; }
Descent best_momentum(double k) {
  return {std::pow(2 / (1 + std::sqrt(k)), 2), std::pow((std::sqrt(k) - 1) / (std::sqrt(k) + 1), 2)};
}

template <class Rule>
std::vector<Pair> path(const Valley& valley, Rule rule, size_t steps) {
  std::vector<Pair> points = {valley.start};
  while (points.size() <= steps) {
    Pair w = points.back();
    const Pair g = valley.gradient(w);
    for (size_t i = 0; i < 2; ++i) rule.step(w[i], g[i], i);
    points.push_back(w);
  }
  return points;
}

/// Until the loss is a millionth.
template <class Rule>
size_t steps_needed(const Valley& valley, const Rule& rule) {
  size_t steps = 0;
  for (const Pair& w : path(valley, rule, 20000)) {
    if (valley.loss(w) < 1e-6) break;
    ++steps;
  }
  return steps;
}

/// 20 steps by hand beside those of the library's optimizer, which gets its gradients from the tape.
template <class Optimizer, class Rule, class Options>
void compare(const char* name, const Rule& rule, const Options& options) {
  const Pair by_hand = path(straight(25), rule, 20).back();
  Parameters parameters(/*seed=*/1);
  const Tensor w = parameters.add("w", Tensor::from({2}, {-4.5, 1})), curvature = Tensor::from({2}, {1, 25});
  Optimizer optimizer(parameters, options);
  for (int step = 0; step < 20; ++step) {
    Tape tape;
    tape.backward(sum(curvature * square(w)) / 2);
    optimizer.step();
  }
  std::printf("%-17s by hand %7.4f %7.4f   library %7.4f %7.4f\n", name, by_hand[0], by_hand[1], w[0], w[1]);
}

/// One weight, from 1, under Adam and decay. Its gradients s, -s, s, ... cancel: what remains is the decay.
double decayed(double s, bool decoupled) {
  AdamByHand adam{0.01};
  double w = 1;
  for (int step = 0; step < 1000; ++step, s = -s) {
    if (decoupled) w -= 0.01 * 0.1 * w;
    adam.step(w, decoupled ? s : s + 0.1 * w, 0);
  }
  return w;
}

void draw(std::ofstream& out, int left, int angle, const Valley& valley) {
  out << "<g transform='translate(" << left << " 170) scale(36 -36)' fill='none' stroke-width='0.05'>\n";
  for (const double p : {1.5, 2.5, 3.5, 4.5})
    out << "<ellipse rx='" << p << "' ry='" << p / 5 << "' stroke='#bbb' transform='rotate(" << angle
        << ")'/>\n";
  const auto line = [&](const char* color, const std::vector<Pair>& points) {
    out << "<polyline stroke='" << color << "' points='";
    for (const Pair& w : points) out << w[0] << "," << w[1] << " ";
    out << "'/>\n";
  };
  line("#26a", path(valley, best_descent(25), 60));   // blue
  line("#c33", path(valley, best_momentum(25), 60));  // red
  line("#393", path(valley, AdamByHand{0.1}, 200));   // green
  out << "</g>\n";
}

int main() {
  set_threads(1);
  const Valley valley = straight(25);
  for (const double rate : {0.01, 0.03, 2.0 / 26, 0.081})
    std::printf("rate %.4f: factors %6.3f %6.3f, loss after 50 steps %8.4f\n", rate, 1 - rate, 1 - 25 * rate,
                valley.loss(path(valley, Descent{rate}, 50).back()));
  std::printf("\n");
  compare<Sgd>("gradient descent", Descent{0.03}, SgdOptions{.learning_rate = 0.03});
  compare<Sgd>("momentum", Descent{0.02, 0.9}, SgdOptions{.learning_rate = 0.02, .momentum = 0.9});
  compare<Adam>("Adam", AdamByHand{0.1}, AdamOptions{.learning_rate = 0.1});
  std::printf("\n   k  descent  momentum   Adam  Adam, turned\n");
  for (const double c : {25, 400, 2500})
    std::printf("%4.0f %8zu %9zu %6zu %13zu\n", c, steps_needed(straight(c), best_descent(c)),
                steps_needed(straight(c), best_momentum(c)), steps_needed(straight(c), AdamByHand{0.1}),
                steps_needed(turned(c), AdamByHand{0.1}));
  std::printf("\n");
  for (const bool corrected : {true, false}) {
    const std::vector<Pair> p = path(valley, AdamByHand{0.01, corrected}, 10);
    std::printf("%scorrected: step 1 %.4f, 2 %.4f, 10 %.4f\n", corrected ? "" : "un", p[1][0] - p[0][0],
                p[2][0] - p[1][0], p[10][0] - p[9][0]);
  }
  std::printf("\ngradients  decay    L2\n");
  for (const double s : {0.1, 1.0, 10.0})
    std::printf("%9.1f %6.3f %5.3f\n", s, decayed(s, true), decayed(s, false));

  std::ofstream out("paths.svg");
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 340' style='background:#fff'>\n";
  draw(out, 180, 0, straight(25));
  draw(out, 580, 45, turned(25));
  out << "</svg>\n";
}
