#pragma once
// Which layer recorded an op. Layers do not report it; it is inferred from the names of their parameters.
//
//   the innermost Scope's name (core/listener.h), if one is open;
//   else what the names of the op's parameters have in common, without the last part: hidden1 for
//        hidden1.weight and hidden1.bias;
//   else the layer of that input which was computed last: relu(hidden1) belongs to hidden1;
//   else "input".
//
// A tensor computed only from parameters, such as g v / norm2(v), counts as a parameter itself, but for the vectors that
// an embedding picks.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "core/parameters.h"
#include "core/tape.h"

namespace lamina {

class LayerNames {
 public:
  explicit LayerNames(const Parameters& parameters);

  /// The layer of an op that was just recorded. To be called for every op of a tape, in order.
  std::string layer_of(const Tape::Node& node, std::span<const Tensor> inputs);

  /// Whether a tensor is a parameter, or computed only from parameters.
  bool is_parameter(const Tensor& tensor) const;

  /// Forgets what was recorded: a new tape begins.
  void clear();

 private:
  struct Origin {
    std::string layer;
    bool parameter;
    size_t order;  ///< 0 for parameters, else the number of the op
  };
  const Origin* find(const Tensor& tensor) const;
  std::string name_by_inputs(std::span<const Tensor> inputs) const;

  std::unordered_map<std::uint64_t, Origin> parameters_, results_;  ///< by the buffer's id
  size_t ops_ = 0;
};

/// "hidden1" of "hidden1.weight"; a name without a dot is its own layer.
std::string layer_part(const std::string& parameter);

/// "weight" of "hidden1.weight"; "value" of a name without a dot.
std::string own_part(const std::string& parameter);

}  // namespace lamina
