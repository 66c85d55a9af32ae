#pragma once
// The tape of one training step as a graph: every op with its shape, memory and times, and what it was
// computed from.
//
// Forward time is the time since the previous op was recorded, so work between two ops (preparing a batch)
// counts for the later one. Backward time is that of the op's own closure.

#include <string>
#include <utility>
#include <vector>

#include "models/training/training_step.h"

namespace lamina {

struct TapeGraph {
  enum class Kind { op, parameter, input };
  struct Node {
    Kind kind = Kind::op;
    std::string layer = {};  ///< models/recording/layer_names.h
    std::string name = {};   ///< of the op or the parameter; of a whole layer the names of its ops
    std::string shape = {};  ///< of the output; of a layer that of its last op
    size_t bytes = 0;        ///< of all outputs
    double forward = 0;      ///< seconds
    double backward = 0;     ///< seconds; 0 where no gradient arrived
    size_t count = 1;        ///< the number of ops that it represents
    double seconds() const { return forward + backward; }
  };
  std::vector<Node> nodes;
  std::vector<std::pair<size_t, size_t>> edges;  ///< from a node to one that reads its output, sorted
};

/// Records the step once to warm up, then `repetitions` times, and keeps each node's shortest times: other
/// programs can only make them longer. Error when the step does not record the same ops every time.
TapeGraph trace(const TrainingStep& step, size_t repetitions = 5);

/// One node per layer, parameters included.
TapeGraph collapse(const TapeGraph& graph);

/// In Graphviz's language: parameters grey, inputs round, the more orange the more time; ops of a layer in a
/// frame.
std::string to_dot(const TapeGraph& graph);

/// A markdown table sorted by time; ops of the same layer, name and shape share a row.
std::string profile_table(const TapeGraph& graph);

}  // namespace lamina
