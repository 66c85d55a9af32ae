#include "../judge.h"

#include "exercises.h"

#include <lamina.h>
using course::compare, course::equal, course::Numbers;
using lamina::text;

using Gradients = std::vector<Numbers>;

// --- momentum

/// The weights after these gradients, one step each; the rate is divided by 10 before step number `slower_at`.
template <class Step>
Numbers after(const Gradients& gradients, size_t slower_at, const Step& step) {
  Numbers w = {1, -2};
  for (size_t i = 0; i < gradients.size(); ++i) step(w, gradients[i], i < slower_at ? 0.1 : 0.01);
  return w;
}

/// What a rule for one weight, rule(w, velocity, g, rate), makes of them.
template <class Rule>
Numbers after_rule(const Gradients& gradients, size_t slower_at, const Rule& rule) {
  Numbers velocity = {0, 0};
  return after(gradients, slower_at, [&](Numbers& w, const Numbers& g, double rate) {
    for (size_t i = 0; i < 2; ++i) rule(w[i], velocity[i], g[i], rate);
  });
}

std::string wrong_momentum_step() {
  const Gradients gradients = {{1, 3}, {-2, 1}, {0.5, 0.5}, {2, -1}};
  for (const size_t slower_at : {4, 2}) {
    Numbers velocity = {0, 0};
    const Numbers yours = after(gradients, slower_at, [&](Numbers& w, const Numbers& g, double rate) {
      momentum_step(w, velocity, g, rate, 0.75);
    });
    const auto by = [&](const auto& rule) { return after_rule(gradients, slower_at, rule); };
    if (yours == Numbers{1, -2}) return "your w does not move: it is not written yet";
    const std::string wrong = compare(
        slower_at == 4 ? "w after four steps" : "w after a change of the rate", yours,
        by([](double& w, double& v, double g, double rate) { w -= rate * (v = 0.75 * v + g); }),
        {{by([](double& w, double& v, double g, double rate) { w += rate * (v = 0.75 * v + g); }),
          "your w moves uphill: subtract"},
         {by([](double& w, double&, double g, double rate) { w -= rate * g; }),
          "your w forgets the velocity of the steps before: this is plain gradient descent"},
         {by([](double& w, double& v, double g, double rate) { w -= rate * (v = 0.75 * v + 0.25 * g); }),
          "your velocity is an average, with (1 - momentum) g; here g counts in full"},
         {by([](double& w, double& v, double g, double rate) { w -= rate * (v = 0.25 * v + g); }),
          "your velocity keeps the share 1 - momentum of what it was; it must keep momentum"},
         {by([](double& w, double& v, double g, double rate) {
            w -= rate * v;
            v = 0.75 * v + g;
          }),
          "your w moves by the old velocity: update the velocity first"},
         {by([](double& w, double& v, double g, double rate) { w -= (v = 0.75 * v + rate * g); }),
          "your velocity contains the rate, so a new rate is not obeyed at once; multiply when w moves"}});
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// --- the best rate

std::string wrong_best_rate() {
  const Numbers curvatures = {3, 8, 0.5, 2};
  const double yours = best_rate(curvatures), right = 2 / 8.5;
  if (yours == 0) return "your rate is not written yet: it is zero";
  if (equal({yours}, {right}))
    return equal({best_rate({25, 4, 1, 9})}, {2 / 26.0})
               ? ""
               : "your rate is right for the curvatures 3, 8, 0.5 and 2, not for 25, 4, 1 and 9";
  if (equal({yours}, {2 / 8.0}))
    return "with your rate the largest curvature is at the edge of divergence: its factor is -1";
  if (equal({yours}, {1 / 8.0}))
    return "with your rate the largest curvature is done in one step, but the smallest is slower than it "
           "must be";
  if (equal({yours}, {2 / 5.0}))
    return "your rate takes the first and the last curvature for the smallest and the largest; they are in "
           "no order";
  if (yours > 2 / 8.0) return "with your rate the largest curvature diverges";
  if (!(yours > 0)) return text("your rate is ", yours, "; it must be positive");
  return text("with your rate of ", yours, " the slowest factor is ",
              std::max(std::fabs(1 - yours * 0.5), std::fabs(1 - yours * 8)), "; it can be ",
              1 - right * 0.5);
}

// --- Adam

/// What the library's Adam makes of these gradients.
Numbers by_library(const Gradients& gradients) {
  lamina::Parameters parameters(/*seed=*/1);
  const lamina::Tensor w = parameters.add("w", lamina::Tensor::from({2}, {1, -2}));
  lamina::Adam adam(parameters, {.learning_rate = 0.1});
  for (const Numbers& g : gradients) {
    for (size_t i = 0; i < 2; ++i) parameters.gradients()[i] = g[i];
    adam.step();
  }
  return course::numbers(w);
}

/// The same by formula, with other betas.
Numbers by_formula(const Gradients& gradients, double beta1, double beta2) {
  Numbers w = {1, -2}, m = {0, 0}, v = {0, 0};
  int steps = 0;
  for (const Numbers& g : gradients) {
    ++steps;
    for (size_t i = 0; i < 2; ++i) {
      m[i] = beta1 * m[i] + (1 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
      w[i] -=
          0.1 * m[i] / (1 - std::pow(beta1, steps)) / (std::sqrt(v[i] / (1 - std::pow(beta2, steps))) + 1e-8);
    }
  }
  return w;
}

/// The same where the corrected averages are kept, and corrected again.
Numbers corrected_in_place(const Gradients& gradients) {
  Numbers w = {1, -2}, m = {0, 0}, v = {0, 0};
  int steps = 0;
  for (const Numbers& g : gradients) {
    ++steps;
    for (size_t i = 0; i < 2; ++i) {
      m[i] = (0.9 * m[i] + 0.1 * g[i]) / (1 - std::pow(0.9, steps));
      v[i] = (0.999 * v[i] + 0.001 * g[i] * g[i]) / (1 - std::pow(0.999, steps));
      w[i] -= 0.1 * m[i] / (std::sqrt(v[i]) + 1e-8);
    }
  }
  return w;
}

Numbers by_student(const Gradients& gradients) {
  AdamState state{{0, 0}, {0, 0}};
  Numbers w = {1, -2};
  for (const Numbers& g : gradients) adam_step(w, state, g, 0.1);
  return w;
}

std::string wrong_adam_step() {
  const Gradients once = {{3, -0.2}}, often = {{3, -0.2}, {-1, 0.5}, {2, 2}, {0.1, -3}},
                  tiny = {{1e-6, 1e-6}};
  const Numbers first = by_student(once);
  if (first == Numbers{1, -2}) return "your w does not move: it is not written yet";
  const double moved[] = {1 - first[0], first[1] + 2};  // both must be 0.1
  if (!std::isfinite(moved[0]) || !std::isfinite(moved[1]))
    return "your first step is infinite or no number: count the step before you correct by 1 - beta^steps";
  if (equal({moved[0], moved[1]}, {-0.1, -0.1}, 1e-4)) return "your w moves uphill: subtract";
  if (equal({moved[0], moved[1]}, {0.1 * std::sqrt(10), 0.1 * std::sqrt(10)}, 1e-4))
    return "your first step is 3.162 times too long: the bias correction is missing";
  if (moved[1] == 0) return "your step moves the first weight alone";
  if (equal({moved[0]}, {0.1}, 1e-4) && !equal({moved[1]}, {0.1}, 1e-4))
    return "your step counts every weight: count once a call";
  if (!equal({moved[0]}, {moved[1]}, 1e-3))
    return "your step depends on the scale of the gradient: divide by the square root of v, not by v";
  if (equal({first[0]}, {0.9}, 1e-6)) {
    const double small = (1 - by_student(tiny)[0]) / 0.1;
    if (equal({small}, {0.01}, 1e-2))
      return "your epsilon is inside the root: with a gradient of 1e-6 the step is 0.01 times what it must "
             "be";
  }
  const double early = 0.1 / (1 + 1e-8 / (std::sqrt(0.001) * 1e-6));  // epsilon before the correction
  std::string wrong = compare("w after one step", first, by_library(once));
  if (wrong.empty())
    wrong = compare("w after four steps", by_student(often), by_library(often),
                    {{by_formula(often, 0.999, 0.9),
                      "your later steps have their betas exchanged: m decays by 0.9, v by 0.999"},
                     {corrected_in_place(often),
                      "your m and v are corrected where they are kept; keep the averages as they are"},
                     {by_formula(often, 0.9, 0.9), "your v decays by 0.9; it must be 0.999"},
                     {by_formula(often, 0.999, 0.999), "your m decays by 0.999; it must be 0.9"}});
  if (wrong.empty())
    wrong = compare("w after a step with a tiny gradient", by_student(tiny), by_library(tiny),
                    {{{0.9, -2.1}, "your step lacks epsilon, which matters for a tiny gradient"},
                     {{1 - early, -2 - early}, "your epsilon is added to sqrt(v) before v is corrected"}});
  return wrong;
}

// --- decay

template <class Step>
Numbers decayed(const Step& step) {
  AdamDirection direction;
  Numbers w = {2};
  for (const double g : {30.0, -20.0, 10.0}) w.push_back(step(w.back(), g, direction));
  return w;
}

std::string wrong_decayed_step() {
  const double rate = 0.1, decay = 0.5;
  double calls = 0;
  const auto yours = [&](Decay kind) {
    return decayed([&](double w, double g, AdamDirection& d) {
      const double next = decayed_step(w, g, rate, decay, kind, d);
      calls = std::max(calls, d.steps);
      return next;
    });
  };
  const Numbers none = decayed([&](double w, double g, AdamDirection& d) { return w - rate * d(g); });
  const Numbers l2 =
      decayed([&](double w, double g, AdamDirection& d) { return w - rate * d(g + decay * w); });
  const Numbers decoupled =
      decayed([&](double w, double g, AdamDirection& d) { return w - rate * d(g) - rate * decay * w; });
  if (yours(Decay::l2) == Numbers{2, 2, 2, 2}) return "your w does not move: it is not written yet";
  if (calls > 3)
    return "your code calls direction more than once a step, which moves its averages more than once";
  const std::string wrong =
      compare("w with l2", yours(Decay::l2), l2,
              {{none, "with l2 your gradient lacks decay w"},
               {decoupled, "with l2 your decay is decoupled: it must go through Adam with the gradient"}});
  if (!wrong.empty()) return wrong;
  return compare(
      "w when decoupled", yours(Decay::decoupled), decoupled,
      {{none, "when decoupled there is no decay"},
       {l2,
        "when decoupled your decay goes through Adam with the gradient, which divides it by the gradient's "
        "size"},
       {decayed([&](double w, double g, AdamDirection& d) { return w - rate * d(g) - decay * w; }),
        "when decoupled your decay lacks the rate"},
       {decayed([&](double w, double g, AdamDirection& d) { return w - rate * d(g) + rate * decay * w; }),
        "when decoupled your decay makes w grow: subtract it"},
       {decayed([&](double w, double g, AdamDirection& d) { return (w - rate * d(g)) * (1 - rate * decay); }),
        "when decoupled your decay is that of the weight after the step; take the weight before it"}});
}

int main() {
  course::exercise("momentum_step", wrong_momentum_step);
  course::exercise("best_rate", wrong_best_rate);
  course::exercise("adam_step", wrong_adam_step);
  course::exercise("decayed_step", wrong_decayed_step);
  return course::verdict();
}
