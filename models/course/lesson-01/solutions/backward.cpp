// The backward pass. Try it without a look at lesson.cpp.
#include <algorithm>
#include <set>

#include "exercises.h"

namespace {

/// Appends the node and all that it was computed from, each once and after its inputs.
void sort_from(Node* node, std::set<Node*>& seen, std::vector<Node*>& sorted) {
  if (!seen.insert(node).second) return;  // it was here before
  // [ your code: first, by sort_from itself, every input: edge.input.get() for the edges of node->edges; then the node
  for (const Node::Edge& edge : node->edges) sort_from(edge.input.get(), seen, sorted);
  sorted.push_back(node);
  // | sorted.push_back(node);
  // ]
  // mistake: your list has a node before its inputs
  // ~ sorted.push_back(node);
  // ~ for (const Node::Edge& edge : node->edges) sort_from(edge.input.get(), seen, sorted);
}

}  // namespace

std::vector<Node*> sorted_nodes(const Value& last) {
  std::set<Node*> seen;
  std::vector<Node*> sorted;
  sort_from(last.node.get(), seen, sorted);
  return sorted;
}

/// dL/dL = 1; then, from the loss back, every node passes its gradient on: dL/d(input) += slope dL/d(node).
void backward(const Value& loss) {
  const std::vector<Node*> nodes = sorted_nodes(loss);
  for (Node* const node : nodes) node->gradient = 0;
  // [ your code: loss.node->gradient, then a loop over the nodes, last first, and over the edges of each
  loss.node->gradient = 1;
  for (size_t i = nodes.size(); i-- > 0;)
    for (const Node::Edge& edge : nodes[i]->edges) edge.input->gradient += edge.slope * nodes[i]->gradient;
  // |
  // ]
  // mistake: your gradient of a value that is used twice is what one use alone contributes: add (+=), do not assign
  // ~ loss.node->gradient = 1;
  // ~ for (size_t i = nodes.size(); i-- > 0;)
  // ~   for (const Node::Edge& edge : nodes[i]->edges) edge.input->gradient = edge.slope * nodes[i]->gradient;
  // mistake: your pass runs from the leaves to the loss, so only the last op's inputs get a gradient: run it backwards
  // ~ loss.node->gradient = 1;
  // ~ for (Node* const node : nodes)
  // ~   for (const Node::Edge& edge : node->edges) edge.input->gradient += edge.slope * node->gradient;
  // mistake: all your gradients are zero: not written yet, or nothing begins with dL/dL = 1
  // ~ for (size_t i = nodes.size(); i-- > 0;)
  // ~   for (const Node::Edge& edge : nodes[i]->edges) edge.input->gradient += edge.slope * nodes[i]->gradient;
}
