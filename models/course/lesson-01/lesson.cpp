// Reverse-mode differentiation from nothing: an engine for scalars, the graph that it draws, a network that it trains.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// --- The engine: 60 lines

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

Value operator+(const Value& a, const Value& b) {
  return {"+", a.value() + b.value(), {{a.node, 1}, {b.node, 1}}};
}
Value operator-(const Value& a, const Value& b) {
  return {"-", a.value() - b.value(), {{a.node, 1}, {b.node, -1}}};
}
Value operator*(const Value& a, const Value& b) {
  return {"*", a.value() * b.value(), {{a.node, b.value()}, {b.node, a.value()}}};
}
Value tanh(const Value& a) {
  const double y = std::tanh(a.value());
  return {"tanh", y, {{a.node, 1 - y * y}}};
}

/// Appends the node and all that it was computed from, each once and after its inputs.
void sort_from(Node* node, std::set<Node*>& seen, std::vector<Node*>& sorted) {
  if (!seen.insert(node).second) return;
  for (const Node::Edge& edge : node->edges) sort_from(edge.input.get(), seen, sorted);
  sorted.push_back(node);
}
std::vector<Node*> sorted_nodes(const Value& last) {
  std::set<Node*> seen;
  std::vector<Node*> sorted;
  sort_from(last.node.get(), seen, sorted);
  return sorted;
}

/// dL/dL = 1; then, from the loss back, dL/d(input) += slope dL/d(node) along every edge.
void backward(const Value& loss) {
  const std::vector<Node*> nodes = sorted_nodes(loss);
  for (Node* const node : nodes) node->gradient = 0;
  loss.node->gradient = 1;
  for (size_t i = nodes.size(); i-- > 0;)
    for (const Node::Edge& edge : nodes[i]->edges) edge.input->gradient += edge.slope * nodes[i]->gradient;
}

// --- What it is used for

/// The graph as a picture: a column further right for every op. Red: gradients, and slopes along the edges.
void draw(const Value& last, const std::string& file) {
  std::map<const Node*, std::vector<int>> places;  // column, x, y
  std::map<int, int> used;                         // of each column
  std::ostringstream lines, boxes;
  const auto write = [](std::ostream& to, int x, int y, const char* color, auto... words) {
    ((to << "<text x='" << x << "' y='" << y << "' fill='" << color << "'>") << ... << words) << "</text>\n";
  };
  for (const Node* const node : sorted_nodes(last)) {
    int column = 0;
    for (const Node::Edge& e : node->edges) column = std::max(column, places[e.input.get()][0] + 1);
    const int x = 60 + 140 * column, y = 40 + 70 * used[column]++ + 35 * (column % 2);
    places[node] = {column, x, y};
    for (const Node::Edge& edge : node->edges) {
      const int from_x = places[edge.input.get()][1], from_y = places[edge.input.get()][2];
      lines << "<path d='M" << from_x << " " << from_y << "L" << x << " " << y << "' stroke='#888'/>\n";
      write(lines, from_x + 70, from_y + (y - from_y) * 70 / (x - from_x) - 4, "#a00", edge.slope);
    }
    boxes << "<rect x='" << x - 45 << "' y='" << y - 25 << "' width='90' height='50' rx='6' fill='"
          << (node->edges.empty() ? "#dbe9f9" : "#f2f2f2") << "' stroke='#444'/>\n";
    write(boxes, x, y - 5, "#111", node->name, " = ", node->value);
    write(boxes, x, y + 15, "#a00", "dL: ", node->gradient);
  }
  std::ofstream(file) << "<svg xmlns='http://www.w3.org/2000/svg' width='" << places[last.node.get()][1] + 60
                      << "' height='" << 70 * used[0] + 20 << "' font-family='sans-serif' font-size='13' "
                      << "text-anchor='middle'>\n<rect width='100%' height='100%' fill='#fff'/>\n"
                      << lines.str() << boxes.str() << "</svg>\n";
}

/// The exclusive or of two bits, by four units: o = p16 + sum_j p[j + 3] tanh(p[j] x1 + p[j + 1] x2 + p[j + 2])
Value network(const std::vector<Value>& p, double x1, double x2) {
  Value output = p[16];
  for (size_t j = 0; j < 16; j += 4) output = output + p[j + 3] * tanh(p[j] * x1 + p[j + 1] * x2 + p[j + 2]);
  return output;
}

void learn() {
  std::mt19937 random(1);
  std::vector<Value> parameters;
  for (int i = 0; i < 17; ++i) parameters.emplace_back(static_cast<double>(random() % 2001) / 1000 - 1);
  for (int step = 0; step <= 150; ++step) {
    Value loss(0);
    for (const int bits : {0, 1, 2, 3}) {
      const Value r = network(parameters, bits % 2, bits / 2) - (bits == 1 || bits == 2);
      loss = loss + r * r;
    }
    backward(loss);
    const size_t nodes = sorted_nodes(loss).size();
    if (step % 50 == 0)
      std::cout << "step " << step << ": L = " << loss.value() << ", " << nodes << " nodes\n";
    for (Value& p : parameters) p.node->value -= 0.03 * p.gradient();
  }
  for (const int x : {0, 1})
    for (const int y : {0, 1})
      std::cout << x << " xor " << y << " = " << network(parameters, x, y).value() << "\n";
}

int main() {
  std::cout << std::fixed << std::setprecision(4);
  const Value w(2, "w"), x(3, "x"), b(-1, "b"), y(2, "y");
  const Value r = w * x + b - y, loss = r * r;
  backward(loss);
  draw(loss, "graph.svg");
  std::cout << "L = " << loss.value() << ", dL/dw = " << w.gradient() << ", dL/db = " << b.gradient() << "\n";
  Value doubled = x;
  for (int i = 0; i < 30; ++i) doubled = doubled + doubled;
  backward(doubled);
  std::cout << "30 doublings: dy/dx = " << x.gradient() << ", " << sorted_nodes(doubled).size() << " nodes\n";
  learn();
}
