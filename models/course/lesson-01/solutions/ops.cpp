// Three ops. Each computes its value, and the slope along the edge to each of its inputs, as + and * in exercises.h.
#include <algorithm>

#include "exercises.h"

/// a / b
Value operator/(const Value& a, const Value& b) {
  // [ your code: the slopes, instead of the two zeros
  return {
      "/", a.value() / b.value(), {{a.node, 1 / b.value()}, {b.node, -a.value() / std::pow(b.value(), 2)}}};
  // | return {"/", a.value() / b.value(), {{a.node, 0}, {b.node, 0}}};
  // ]
  // mistake: your d(a / b)/db lacks the minus sign: a / b falls when b grows
  // ~ return {"/", a.value() / b.value(), {{a.node, 1 / b.value()}, {b.node, a.value() / std::pow(b.value(), 2)}}};
  // mistake: your d(a / b)/db is -a / b; it must be -a / b^2
  // ~ return {"/", a.value() / b.value(), {{a.node, 1 / b.value()}, {b.node, -a.value() / b.value()}}};
}

/// s(a) = 1 / (1 + e^-a)
Value sigmoid(const Value& a) {
  const double y = 1 / (1 + std::exp(-a.value()));
  // [ your code: the slope, instead of the zero; y helps
  return {"sigmoid", y, {{a.node, y * (1 - y)}}};
  // | return {"sigmoid", y, {{a.node, 0}}};
  // ]
  // mistake: your ds/da is a (1 - a): it takes the result y, not the input
  // ~ return {"sigmoid", y, {{a.node, a.value() * (1 - a.value())}}};
}

/// max(0, a)
Value relu(const Value& a) {
  // [ your code: the slope, instead of the zero
  return {"relu", std::max(0.0, a.value()), {{a.node, a.value() > 0 ? 1.0 : 0.0}}};
  // | return {"relu", std::max(0.0, a.value()), {{a.node, 0}}};
  // ]
  // mistake: your d(relu)/da is 1 at a = -1.5 too, where relu is flat
  // ~ return {"relu", std::max(0.0, a.value()), {{a.node, 1}}};
  // mistake: your d(relu)/da is the result; it must be its slope
  // ~ return {"relu", std::max(0.0, a.value()), {{a.node, std::max(0.0, a.value())}}};
}
