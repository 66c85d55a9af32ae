#include <algorithm>
#include <fstream>
#include <map>

#include "../judge.h"
#include "exercises.h"

using course::compare;
using course::Numbers;

namespace {

/// The gradients of `leaves`, after a pass that does not depend on the student's: along every path from the loss.
void follow(const Node& node, double gradient, std::map<const Node*, double>& sums) {
  sums[&node] += gradient;
  for (const Node::Edge& edge : node.edges) follow(*edge.input, gradient * edge.slope, sums);
}
Numbers gradients(const Value& loss, const std::vector<Value>& leaves) {
  std::map<const Node*, double> sums;
  follow(*loss.node, 1, sums);
  Numbers result;
  for (const Value& leaf : leaves) result.push_back(sums[leaf.node.get()]);
  return result;
}

std::string check_divide() {
  const Value a(3), b(-2);
  return compare("d(a / b)", gradients(a / b, {a, b}), {-0.5, -0.75},
                 {{{-0.5, 0.75}, "your d(a / b)/db lacks the minus sign: a / b falls when b grows"},
                  {{-0.5, 1.5}, "your d(a / b)/db is -a / b; it must be -a / b^2"}});
}

std::string check_sigmoid() {
  const double y = 1 / (1 + std::exp(-3.0));
  const Value a(3);
  return compare("ds/da", gradients(sigmoid(a), {a}), {y * (1 - y)},
                 {{{-6}, "your ds/da is a (1 - a): it takes the result y, not the input"}});
}

std::string check_relu() {
  const Value above(2), below(-1.5);
  Numbers yours = gradients(relu(above), {above});
  yours.push_back(gradients(relu(below), {below})[0]);
  return compare("d(relu)/da", yours, {1, 0},
                 {{{1, 1}, "your d(relu)/da is 1 at a = -1.5 too, where relu is flat"},
                  {{2, 0}, "your d(relu)/da is the result; it must be its slope"}});
}

/// A graph in which two nodes are used twice, and one of them on paths of different lengths.
struct Example {
  Value a{2, "a"}, b{-3, "b"};
  Value product = a * b, last = product * product + a;
};

std::string check_sorted() {
  const Example example;
  const std::vector<Node*> nodes = sorted_nodes(example.last);
  if (nodes.size() < 5)
    return "your list has " + std::to_string(nodes.size()) +
           " of 5 nodes: it is not written yet, or it misses inputs";
  if (nodes.size() > 5) return "your list has a node more than once";
  const auto place = [&](const Node* node) { return std::ranges::find(nodes, node) - nodes.begin(); };
  for (const Node* node : nodes)
    for (const Node::Edge& edge : node->edges)
      if (place(edge.input.get()) > place(node)) return "your list has a node before its inputs";
  return "";
}

std::string check_backward() {
  if (!check_sorted().empty()) return "it needs sorted_nodes, so repair that first";
  const Example example;
  const auto& [a, b, product, last] = example;
  backward(last);
  backward(last);  // once more: the result must be the same
  const Numbers yours = {a.gradient(), b.gradient(), product.gradient(), last.gradient()};
  const auto is_zero = [](double v) { return v == 0; };
  if (std::ranges::all_of(yours, is_zero))
    return "all your gradients are zero: not written yet, or nothing begins with dL/dL = 1";
  return compare(
      "gradients", yours, {37, -24, -12, 1},
      {{{18, -12, -6, 1},
        "your gradient of a value that is used twice is what one use alone contributes: add (+=), do "
        "not assign"},
       {{1, 0, 0, 1},
        "your pass runs from the leaves to the loss, so only the last op's inputs get a gradient: run "
        "it backwards"}});
}

std::string wrong_neuron(const Value& w, const Value& b, double x, double y) {
  const double margin = y * (w.value() * x + b.value()), slope = -y / (1 + std::exp(margin));
  const Value loss = logistic_loss(w, b, x, y);
  std::string wrong =
      compare("loss", {loss.value()}, {std::log(1 + std::exp(-margin))},
              {{{std::log(1 + std::exp(margin))},
                "your loss is small when the neuron decides wrongly: the exponent has the wrong sign"}});
  if (!wrong.empty()) return wrong;
  const Numbers yours = gradients(loss, {w, b});
  if (yours[0] == 0)
    return "your loss has the right value, but no edge leads to w: it was computed from numbers instead of "
           "Values";
  return compare("dL/d(w, b)", yours, {slope * x, slope});
}

std::string check_neuron() {
  const Value w(0.5, "w"), b(0.25, "b");
  const double of_one = logistic_loss(w, b, 2, 1).value(), of_other = logistic_loss(w, b, 2, -1).value();
  if (of_one == of_other && of_one != 0) return "your loss is the same for both classes: it lacks y";
  const std::string wrong = wrong_neuron(w, b, 2, -1);
  return wrong.empty() ? wrong_neuron(w, b, 2, 1) : wrong;
}

std::string check_descent() {
  std::vector<Value> parameters = {Value(1, "p"), Value(-2, "q")};
  const std::vector<Value> held = parameters;
  parameters[0].node->gradient = 4;
  parameters[1].node->gradient = -3;
  descend(parameters, 0.5);
  if (!parameters[0].node->edges.empty())
    return "your step is itself an op in the graph, which grows with every step: change p.node->value";
  if (parameters[0].node != held[0].node)
    return "your step makes new nodes, and the network still uses the old ones: change p.node->value";
  return compare("p after the step", {held[0].value(), held[1].value()}, {-1, -0.5},
                 {{{1, -2}, "your step changes nothing: it is not written yet, or it changes copies"},
                  {{3, -3.5}, "your step goes uphill"}});
}

/// The student's own graph in Graphviz's language.
void draw() {
  const Value w(0.5, "w"), b(0.25, "b"), loss = logistic_loss(w, b, 2, -1);
  backward(loss);
  std::ofstream file("your_graph.dot");
  file << "digraph { rankdir=LR; node [shape=box];\n";
  for (const Node* node : sorted_nodes(loss)) {
    file << "n" << node << " [label=\"" << node->name << " " << node->value << "\\ndL " << node->gradient
         << "\"];\n";
    for (const Node::Edge& edge : node->edges)
      file << "n" << edge.input << " -> n" << node << " [label=\"" << edge.slope << "\"];\n";
  }
  file << "}\n";
}

}  // namespace

int main() {
  course::exercise("operator/", check_divide);
  course::exercise("sigmoid", check_sigmoid);
  course::exercise("relu", check_relu);
  course::exercise("sorted_nodes", check_sorted);
  course::exercise("backward", check_backward);
  course::exercise("logistic_loss", check_neuron);
  course::exercise("descend", check_descent);
  course::apart([] { return draw(), true; });
  return course::verdict();
}
