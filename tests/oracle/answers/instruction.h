#pragma once
// The instructions of the oracle's program: a case is a list of instructions over named tensors.

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/parameters.h"
#include "core/tensor.h"

namespace lamina::oracle {

using Json = nlohmann::json;

/// The tensors of a case, and the layers that its backward pass still needs.
struct Workspace {
  std::map<std::string, Tensor> tensors;
  std::vector<std::shared_ptr<void>> kept;
};

/// One instruction: {"op": ..., "in": [names], "out": [names], and the op's own attributes}. The name "" stands
/// for an empty handle.
class Instruction {
 public:
  Instruction(const Json& json, Workspace& workspace) : json_(json), workspace_(workspace) {}

  size_t inputs() const { return json_.at("in").size(); }
  /// The tensor under the index-th input name; an empty handle when there are fewer names.
  Tensor input(size_t index) const;

  bool has(const std::string& key) const { return json_.contains(key); }
  real number(const std::string& key, real fallback) const { return json_.value(key, fallback); }
  size_t size(const std::string& key, size_t fallback = 0) const { return json_.value(key, fallback); }
  int integer(const std::string& key, int fallback = 0) const { return json_.value(key, fallback); }
  bool flag(const std::string& key) const { return json_.value(key, false); }
  std::string word(const std::string& key) const { return json_.value(key, std::string()); }
  std::vector<int> integers(const std::string& key) const { return json_.at(key).get<std::vector<int>>(); }
  Shape shape(const std::string& key) const;
  const Json& json() const { return json_; }

  /// An object that lives as long as the case.
  template <class T, class... Arguments>
  T& keep(Arguments&&... arguments) const {
    auto made = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    workspace_.kept.push_back(made);
    return *made;
  }

  /// Gives every parameter the values of the case's tensor of the same name, and replaces that tensor with
  /// it. Throws Error when the case has no such tensor or one of another shape.
  void adopt(Parameters& parameters) const;

 private:
  const Json& json_;
  Workspace& workspace_;
};

using Function = std::function<std::vector<Tensor>(const Instruction&)>;
using Functions = std::map<std::string, Function>;

Shape shape_of(const Json& sizes);

void add_primitives(Functions& functions);
void add_attention(Functions& functions);
void add_axes(Functions& functions);
void add_images(Functions& functions);
void add_normalizations(Functions& functions);
void add_layers(Functions& functions);
void add_recurrent(Functions& functions);
void add_optimizers(Functions& functions);

}  // namespace lamina::oracle
