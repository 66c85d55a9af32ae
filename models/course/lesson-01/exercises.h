#pragma once
// The engine of the lesson, without what the exercises ask for.

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// A number, and how it was computed. An edge leads to an input and holds the slope d(value) / d(input).
struct Node {
  struct Edge {
    std::shared_ptr<Node> input;
    double slope;
  };
  std::string name;
  double value;
  std::vector<Edge> edges;
  double gradient = 0;  // dL/d(value), after backward(L)
};

/// What one computes with: a handle of a node. Copies share it.
struct Value {
  Value(double number, std::string name = "")
      : node(std::make_shared<Node>(Node{std::move(name), number, {}})) {}
  Value(const char* op, double number, std::vector<Node::Edge> edges)
      : node(std::make_shared<Node>(Node{op, number, std::move(edges)})) {}
  double value() const { return node->value; }
  double gradient() const { return node->gradient; }
  std::shared_ptr<Node> node;
};

inline Value operator+(const Value& a, const Value& b) {
  return {"+", a.value() + b.value(), {{a.node, 1}, {b.node, 1}}};
}
inline Value operator*(const Value& a, const Value& b) {
  return {"*", a.value() * b.value(), {{a.node, b.value()}, {b.node, a.value()}}};
}

// ops.cpp
Value operator/(const Value& a, const Value& b);
Value sigmoid(const Value& a);
Value relu(const Value& a);

// backward.cpp
std::vector<Node*> sorted_nodes(const Value& last);
void backward(const Value& loss);

// neuron.cpp
Value logistic_loss(const Value& w, const Value& b, double x, double y);

// descent.cpp
void descend(std::vector<Value>& parameters, double rate);
