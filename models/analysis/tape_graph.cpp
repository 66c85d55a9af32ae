#include "models/analysis/tape_graph.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/error.h"
#include "core/listener.h"
#include "models/recording/layer_names.h"
#include "models/run/metrics.h"

namespace lamina {

namespace {

using Kind = TapeGraph::Kind;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Builds the graph while the step runs.
class Tracer final : public TapeListener {
 public:
  explicit Tracer(const Parameters& parameters) : names_(parameters) {
    for (const auto& [name, value] : parameters.learned()) parameter_names_[value.storage()->id] = name;
    last_ = now();
  }

  void recorded(const Tape::Node& node, std::span<const Tensor> inputs) override {
    const double forward = now() - last_;
    std::set<size_t> sources;
    for (const Tensor& input : inputs)
      if (input.defined()) sources.insert(origin_of(input));
    const size_t number = graph.nodes.size();
    TapeGraph::Node& added = graph.nodes.emplace_back();
    added.layer = names_.layer_of(node, inputs);
    added.name = node.op;
    added.shape = text(node.outputs[0].shape());
    added.forward = forward;
    for (const Tensor& output : node.outputs) {
      if (!output.defined()) continue;
      added.bytes += output.size() * sizeof(real);
      origins_[output.storage()->id] = number;
    }
    for (const size_t source : sources) graph.edges.emplace_back(source, number);
    numbers_[&node] = number;
    last_ = now();
  }

  void backward_begins(const Tape::Node&) override { last_ = now(); }
  void backward_ends(const Tape::Node& node) override {
    graph.nodes[numbers_.at(&node)].backward = now() - last_;
  }

  TapeGraph graph;

 private:
  /// The node that computed a tensor: an op, or a leaf, which is added when it is first seen.
  size_t origin_of(const Tensor& tensor) {
    const auto [place, is_new] = origins_.try_emplace(tensor.storage()->id, graph.nodes.size());
    if (!is_new) return place->second;
    const auto parameter = parameter_names_.find(tensor.storage()->id);
    const bool known = parameter != parameter_names_.end();
    graph.nodes.push_back({.kind = known ? Kind::parameter : Kind::input,
                           .layer = known ? layer_part(parameter->second) : "input",
                           .name = known ? own_part(parameter->second) : "input",
                           .shape = text(tensor.shape()),
                           .bytes = tensor.size() * sizeof(real)});
    return place->second;
  }

  LayerNames names_;
  std::unordered_map<std::uint64_t, std::string> parameter_names_;
  std::unordered_map<std::uint64_t, size_t> origins_;  ///< the node that computed a buffer
  std::unordered_map<const Tape::Node*, size_t> numbers_;
  double last_ = 0;
};

TapeGraph trace_once(const TrainingStep& step) {
  step.parameters->clear_gradients();
  Tracer tracer(*step.parameters);
  const Listening listening(tracer);
  Tape tape;
  tape.backward(step.loss());
  std::ranges::sort(tracer.graph.edges);
  return tracer.graph;
}

}  // namespace

TapeGraph trace(const TrainingStep& step, size_t repetitions) {
  trace_once(step);  // warms up
  TapeGraph graph = trace_once(step);
  for (size_t run = 1; run < repetitions; ++run) {
    const TapeGraph again = trace_once(step);
    const auto same = [](const TapeGraph::Node& a, const TapeGraph::Node& b) {
      return a.name == b.name && a.layer == b.layer && a.shape == b.shape;
    };
    if (again.edges != graph.edges || !std::ranges::equal(again.nodes, graph.nodes, same))
      fail("trace: the step's tape differs from one run to the next");
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      TapeGraph::Node& node = graph.nodes[i];
      node.forward = std::min(node.forward, again.nodes[i].forward);
      node.backward = std::min(node.backward, again.nodes[i].backward);
    }
  }
  return graph;
}

TapeGraph collapse(const TapeGraph& graph) {
  TapeGraph layers;
  std::map<std::string, size_t> numbers;
  std::vector<size_t> layer_of;
  std::vector<std::vector<std::string>> names;
  for (const TapeGraph::Node& node : graph.nodes) {
    const auto [place, is_new] = numbers.try_emplace(node.layer, layers.nodes.size());
    layer_of.push_back(place->second);
    if (is_new) {
      layers.nodes.push_back({.kind = Kind::input, .layer = node.layer, .count = 0});
      names.emplace_back();
    }
    TapeGraph::Node& layer = layers.nodes[place->second];
    if (node.kind == Kind::op) {
      std::vector<std::string>& ops = names[place->second];
      if (std::ranges::find(ops, node.name) == ops.end()) ops.push_back(node.name);
      layer.kind = Kind::op;
      layer.count += node.count;
      layer.shape = node.shape;
      layer.bytes += node.bytes;
      layer.forward += node.forward;
      layer.backward += node.backward;
    } else if (layer.shape.empty()) {
      layer.shape = node.shape;
    }
  }
  for (size_t i = 0; i < names.size(); ++i)
    for (const std::string& name : names[i])
      layers.nodes[i].name += (layers.nodes[i].name.empty() ? "" : ", ") + name;
  std::set<std::pair<size_t, size_t>> edges;
  for (const auto& [from, to] : graph.edges)
    if (layer_of[from] != layer_of[to]) edges.emplace(layer_of[from], layer_of[to]);
  layers.edges.assign(edges.begin(), edges.end());
  return layers;
}

namespace {

std::string milliseconds(double seconds) { return formatted("%.3f", 1e3 * seconds); }

std::string size_text(size_t bytes) {
  return bytes < 10000 ? text(bytes, " B") : formatted("%.0f kB", static_cast<double>(bytes) / 1000);
}

std::string in_quotes(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '\\';
    result += c;
  }
  return result + '"';
}

/// White to orange by the share of the longest time.
std::string color_of(double share) {
  const auto mix = [share](int from, int to) {
    return from + static_cast<int>(share * static_cast<double>(to - from));
  };
  char color[8];
  std::snprintf(color, sizeof color, "#%02x%02x%02x", mix(255, 255), mix(255, 160), mix(255, 60));
  return color;
}

std::string dot_node(const TapeGraph::Node& node, size_t number, bool collapsed, double longest) {
  std::string label = collapsed ? node.layer : node.name;
  if (collapsed && !node.name.empty()) label += "\\n" + node.name;
  if (node.count > 1 && collapsed) label += text("\\n", node.count, " ops");
  label += "\\n" + node.shape;
  if (node.kind != Kind::op)
    return text("n", number, " [label=", in_quotes(label), node.kind == Kind::input ? ", shape=ellipse" : "",
                ", fillcolor=\"#e8e8e8\"];\n");
  label += text("\\n", milliseconds(node.forward), " + ", milliseconds(node.backward), " ms\\n",
                size_text(node.bytes));
  return text("n", number, " [label=", in_quotes(label), ", fillcolor=\"",
              color_of(longest > 0 ? node.seconds() / longest : 0), "\"];\n");
}

}  // namespace

std::string to_dot(const TapeGraph& graph) {
  double longest = 0;
  std::vector<std::string> layers;
  std::map<std::string, std::vector<size_t>> members;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const TapeGraph::Node& node = graph.nodes[i];
    longest = std::max(longest, node.seconds());
    if (members[node.layer].empty()) layers.push_back(node.layer);
    members[node.layer].push_back(i);
  }
  const bool collapsed = layers.size() == graph.nodes.size();
  std::string dot =
      "// forward + backward time; bytes of the outputs\n"
      "digraph tape {\n"
      "  node [shape=box, style=\"filled\", fontname=\"Helvetica,Arial,sans-serif\", fontsize=11];\n"
      "  graph [fontname=\"Helvetica,Arial,sans-serif\", fontsize=12];\n";
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool frame = !collapsed && layers[i] != "input";
    if (frame) dot += text("  subgraph cluster_", i, " {\n  label=", in_quotes(layers[i]), ";\n");
    for (const size_t number : members[layers[i]])
      dot += "  " + dot_node(graph.nodes[number], number, collapsed, longest);
    if (frame) dot += "  }\n";
  }
  for (const auto& [from, to] : graph.edges) dot += text("  n", from, " -> n", to, ";\n");
  return dot + "}\n";
}

std::string profile_table(const TapeGraph& graph) {
  std::map<std::tuple<std::string, std::string, std::string>, TapeGraph::Node> merged;
  double forward = 0, backward = 0;
  for (const TapeGraph::Node& node : graph.nodes) {
    if (node.kind != Kind::op) continue;
    forward += node.forward;
    backward += node.backward;
    const auto [place, is_new] = merged.try_emplace({node.layer, node.name, node.shape}, node);
    if (is_new) continue;
    TapeGraph::Node& row = place->second;
    row.count += node.count;
    row.bytes += node.bytes;
    row.forward += node.forward;
    row.backward += node.backward;
  }
  std::vector<TapeGraph::Node> rows;
  rows.reserve(merged.size());
  for (const auto& [key, node] : merged) rows.push_back(node);
  std::ranges::stable_sort(rows, std::ranges::greater(), &TapeGraph::Node::seconds);
  std::string table =
      "| layer | op | count | output | forward ms | backward ms | share | output bytes |\n"
      "|---|---|---|---|---|---|---|---|\n";
  const double total = forward + backward;
  const auto share_of = [total](double seconds) {
    return formatted("%.1f%%", total > 0 ? 100 * seconds / total : 0);
  };
  size_t bytes = 0, count = 0;
  for (const TapeGraph::Node& row : rows) {
    bytes += row.bytes;
    count += row.count;
    table += text("| ", row.layer, " | ", row.name, " | ", row.count, " | ", row.shape, " | ",
                  milliseconds(row.forward), " | ", milliseconds(row.backward), " | ",
                  share_of(row.seconds()), " | ", size_text(row.bytes), " |\n");
  }
  return table + text("| all | | ", count, " | | ", milliseconds(forward), " | ", milliseconds(backward),
                      " | 100.0% | ", size_text(bytes), " |\n");
}

}  // namespace lamina
