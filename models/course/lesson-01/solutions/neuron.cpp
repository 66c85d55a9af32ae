// A neuron that tells two classes apart, y = 1 and y = -1.
#include "exercises.h"

static Value exp(const Value& a) {
  const double y = std::exp(a.value());
  return {"exp", y, {{a.node, y}}};
}

static Value log(const Value& a) { return {"log", std::log(a.value()), {{a.node, 1 / a.value()}}}; }

/// L = log(1 + e^(-y (w x + b)))
Value logistic_loss(const Value& w, const Value& b, double x, double y) {
  // [ your code: the formula, computed with Values; a number beside a Value becomes one by itself
  return log(1 + exp(-y * (w * x + b)));
  // | return 0;
  // ]
  // mistake: your loss has the right value, but no edge leads to w: it was computed from numbers instead of Values
  // ~ return std::log(1 + std::exp(-y * (w.value() * x + b.value())));
  // mistake: your loss is small when the neuron decides wrongly: the exponent has the wrong sign
  // ~ return log(1 + exp(y * (w * x + b)));
  // mistake: your loss is the same for both classes: it lacks y
  // ~ return log(1 + exp(w * x + b));
}
