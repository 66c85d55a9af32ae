// The graph of a tape, for a net small enough to draw by hand.

#include "models/analysis/tape_graph.h"

#include <map>

#include "core/listener.h"
#include "layers/linear.h"
#include "tests/check.h"
#include "tools/commands/training_steps.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// loss = sum(square(relu(x W1 + b1) W2)): the ops linear, relu, linear, square, sum, and four leaves.
TrainingStep small_step() {
  const auto parameters = std::make_shared<Parameters>(1);
  const Linear first(*parameters, "first", {.input = 3, .output = 4});
  const Linear second(*parameters, "second", {.input = 4, .output = 2, .bias = false});
  const Tensor x = sample({5, 3}, 1);
  return {.parameters = parameters, .loss = [=] {
            const Tensor y = second(relu(first(x)));
            const Scope scope("loss");
            return sum(square(y));
          }};
}

/// The number of the node of this layer and name.
size_t find(const TapeGraph& graph, const std::string& layer, const std::string& name) {
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].layer == layer && graph.nodes[i].name == name) return i;
  FAIL("no node ", layer, " ", name);
  return 0;
}

}  // namespace

TEST_CASE("the graph of a small net: nodes, shapes, bytes and edges") {
  const TapeGraph graph = trace(small_step(), 2);
  CHECK(graph.nodes.size() == 9);
  const size_t x = find(graph, "input", "input"), w1 = find(graph, "first", "weight"),
               b1 = find(graph, "first", "bias"), a1 = find(graph, "first", "linear"),
               h = find(graph, "first", "relu"), w2 = find(graph, "second", "weight"),
               a2 = find(graph, "second", "linear"), s = find(graph, "loss", "square"),
               loss = find(graph, "loss", "sum");
  std::vector<std::pair<size_t, size_t>> expected = {{x, a1}, {w1, a1}, {b1, a1}, {a1, h},
                                                     {h, a2}, {w2, a2}, {a2, s},  {s, loss}};
  std::ranges::sort(expected);
  CHECK(graph.edges == expected);
  CHECK(graph.nodes[x].kind == TapeGraph::Kind::input);
  CHECK(graph.nodes[w1].kind == TapeGraph::Kind::parameter);
  CHECK(graph.nodes[a1].kind == TapeGraph::Kind::op);
  CHECK(graph.nodes[a1].shape == "[5 x 4]");
  CHECK(graph.nodes[a1].bytes == 5 * 4 * sizeof(real));
  CHECK(graph.nodes[w2].bytes == 4 * 2 * sizeof(real));
  CHECK(graph.nodes[a1].backward > 0);
  CHECK(graph.nodes[loss].forward > 0);
}

TEST_CASE("a step that records other ops from one run to the next is refused") {
  TrainingStep step = small_step();
  const Tensor x = step.parameters->learned()[0].value;
  const auto runs = std::make_shared<int>(0);
  step.loss = [=] { return sum((*runs)++ % 2 == 0 ? tanh(x) : relu(x)); };
  CHECK_ERROR(trace(step), "trace: the step's tape differs from one run to the next");
}

TEST_CASE("collapsed to layers: sums, and edges between layers only") {
  const TapeGraph graph = trace(small_step(), 1), layers = collapse(graph);
  CHECK(layers.nodes.size() == 4);
  const size_t x = find(layers, "input", ""), first = find(layers, "first", "linear, relu"),
               second = find(layers, "second", "linear"), loss = find(layers, "loss", "square, sum");
  CHECK(layers.edges == std::vector<std::pair<size_t, size_t>>{{x, first}, {first, second}, {second, loss}});
  CHECK(layers.nodes[first].count == 2);
  CHECK(layers.nodes[first].bytes == 2 * 5 * 4 * sizeof(real));
  CHECK(layers.nodes[first].shape == "[5 x 4]");
  const double forward =
      graph.nodes[find(graph, "first", "linear")].forward + graph.nodes[find(graph, "first", "relu")].forward;
  CHECK(layers.nodes[first].forward == forward);  // of microseconds, where an approximation says nothing
}

TEST_CASE("the graph as DOT and as a table") {
  TapeGraph graph = trace(small_step(), 1);
  const std::string dot = to_dot(graph);
  CHECK(dot.starts_with("//"));
  CHECK(std::ranges::count(dot, '{') == std::ranges::count(dot, '}'));
  size_t arrows = 0;
  for (size_t at = dot.find("->"); at != std::string::npos; at = dot.find("->", at + 1)) ++arrows;
  CHECK(arrows == graph.edges.size());
  for (const char* part : {"label=\"first\"", "label=\"relu\\n[5 x 4]\\n", "label=\"weight\\n[4 x 2]\""})
    CHECK_MESSAGE(contains(dot, part), part);
  CHECK(!contains(to_dot(collapse(graph)), "subgraph"));

  for (TapeGraph::Node& node : graph.nodes) node.forward = node.backward = 0;
  graph.nodes[find(graph, "loss", "square")].backward = 3e-3;
  graph.nodes[find(graph, "first", "relu")].forward = 1e-3;
  const std::string table = profile_table(graph);
  const size_t square = table.find("| loss | square | 1 | [5 x 2] | 0.000 | 3.000 | 75.0% |"),
               relu = table.find("| first | relu | 1 | [5 x 4] | 1.000 | 0.000 | 25.0% |");
  CHECK(square < relu);
  CHECK(relu != std::string::npos);
  CHECK(contains(table, "| all | | 5 | | 1.000 | 3.000 | 100.0% |"));
}

TEST_CASE("every experiment has a training step that can be drawn" * doctest::test_suite("slow")) {
  for (const NamedTrainingStep& step : training_steps()) {
    CAPTURE(step.name);
    std::map<Norm, std::string> names;
    for (const Norm norm : step.norms) {
      const TapeGraph graph = trace(step.make({.norm = norm, .batch = 2}), 0);
      CHECK(find(graph, "loss", graph.nodes.back().name) > 0);
      for (const TapeGraph::Node& node : graph.nodes)
        if (node.kind == TapeGraph::Kind::op) CHECK_MESSAGE(node.layer != "input", node.name);
      for (const TapeGraph::Node& node : graph.nodes) names[norm] += text(node.layer, ' ', node.name, '\n');
    }
    // A scheme that a model offers and does not ask for would be the baseline under another name.
    for (const Norm norm : step.norms)
      CHECK_MESSAGE((norm == Norm::none || names[norm] != names[Norm::none]), std::string(name_of(norm)));
  }
}
