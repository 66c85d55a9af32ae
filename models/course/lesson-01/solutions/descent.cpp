// A step of gradient descent: p <- p - rate dL/dp for every parameter.
#include "exercises.h"

void descend(std::vector<Value>& parameters, double rate) {
  // [ your code: it changes the values in the parameters' nodes
  for (Value& p : parameters) p.node->value -= rate * p.gradient();
  // |
  // ]
  // mistake: your step goes uphill
  // ~ for (Value& p : parameters) p.node->value += rate * p.gradient();
  // mistake: your step makes new nodes, and the network still uses the old ones: change p.node->value
  // ~ for (Value& p : parameters) p = Value(p.value() - rate * p.gradient());
  // mistake: your step is itself an op in the graph, which grows with every step: change p.node->value
  // ~ for (Value& p : parameters) p = p + Value(-rate * p.gradient());
  // mistake: your step changes nothing: it is not written yet, or it changes copies
  // ~ for (Value p : parameters) p = Value(p.value() - rate * p.gradient());
}
